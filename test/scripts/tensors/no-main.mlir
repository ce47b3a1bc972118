// exit: 2
// error-contains: a program begins in `func.func @main()`, and there is none
func.func @start() {
  return
}
