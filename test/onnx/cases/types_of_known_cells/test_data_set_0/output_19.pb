B
int8_shownJ