	B
bool_shownJ