// Tokamak in C: compile a script or a model, call its functions with arrays of the caller's, read the results. This is the
// interface of libtokamak.so, on which those for other languages stand.
//
//   tokamak_program *program = NULL;
//   tokamak_function *scale = NULL;
//   tokamak_value *features = NULL, *results = NULL;
//   const double cells[] = {1, 2, 3, 4, 5, 6};
//   const int64_t sizes[] = {3, 2};
//   tokamak_error *error =
//       tokamak_program_compile("scale.dml", "f = function(matrix[double] X, double k) return (matrix[double] Y) { Y = X * k }",
//                              NULL, &program);
//   if (!error) error = tokamak_program_function(program, "f", &scale);
//   if (!error) error = tokamak_value_of_array(TOKAMAK_F64, 2, sizes, cells, NULL, NULL, &features);
//   if (!error) {
//     const tokamak_argument arguments[] = {{NULL, features}, {"k", tokamak_value_of_double(0.5)}};
//     error = tokamak_function_call(scale, arguments, 2, &results);
//     tokamak_value_free(arguments[1].value);
//   }
//   if (!error) {
//     tokamak_array scaled;
//     error = tokamak_value_array(tokamak_value_element(results, 0), &scaled);
//     if (!error) printf("%g\n", ((const double *)scaled.cells)[5]);
//   }
//   if (error) fputs(tokamak_error_text(error), stderr);
//   tokamak_error_free(error);
//   tokamak_value_free(results);
//   tokamak_value_free(features);
//   tokamak_program_free(program);
//
// What can fail returns an error, or NULL if it didn't; results are written through pointers only if it didn't. Each error
// and value that a function gives belongs to the caller, who frees it; free functions accept NULL. Values never change.
// Texts are UTF-8, end with a zero, and belong to the object they are asked of. All functions may be called by several
// threads at the same time. Structs that may grow begin with their size, so that programs that were built with an older
// header go on to work; the others stay as they are.
#ifndef TOKAMAK_H
#define TOKAMAK_H

#include <stddef.h>
#include <stdint.h>

#define TOKAMAK_API_VERSION 3

#if defined(__GNUC__)
#define TOKAMAK_API __attribute__((visibility("default")))
#else
#define TOKAMAK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Of the library that is loaded: TOKAMAK_API_VERSION of its header, which grows when something is added; nothing is ever
// taken away from libtokamak.so.1.
TOKAMAK_API int32_t tokamak_api_version(void);
TOKAMAK_API const char *tokamak_version(void); // "0.1.0"

//===- errors --------------------------------------------------------------------------------===//

typedef struct tokamak_error tokamak_error;

// As exit statuses of the program tokamak.
typedef enum tokamak_status {
  TOKAMAK_FAILED = 1,       // while it ran
  TOKAMAK_REJECTED = 2,     // a mistake that was found before anything ran
  TOKAMAK_INTERNAL = 70,    // a bug of Tokamak
  TOKAMAK_INTERRUPTED = 130 // by tokamak_interrupt or tokamak_stop_call
} tokamak_status;

TOKAMAK_API tokamak_status tokamak_error_status(const tokamak_error *error);
// What is wrong, in one line.
TOKAMAK_API const char *tokamak_error_message(const tokamak_error *error);
// The same as the program tokamak shows it: with the place, the line of the script with a caret, and notes.
TOKAMAK_API const char *tokamak_error_text(const tokamak_error *error);
// Where the mistake is: line and column count from 1; 0 and "" if the place is not known.
TOKAMAK_API const char *tokamak_error_file(const tokamak_error *error);
TOKAMAK_API int32_t tokamak_error_line(const tokamak_error *error);
TOKAMAK_API int32_t tokamak_error_column(const tokamak_error *error);
// What was given to tokamak_stop_call; NULL for other errors. Whoever gets the error frees it.
TOKAMAK_API void *tokamak_error_cause(const tokamak_error *error);
TOKAMAK_API void tokamak_error_free(tokamak_error *error);

//===- values --------------------------------------------------------------------------------===//

typedef struct tokamak_value tokamak_value;

typedef enum tokamak_kind {
  TOKAMAK_BOOLEAN,
  TOKAMAK_INTEGER,
  TOKAMAK_DOUBLE,
  TOKAMAK_TEXT,
  TOKAMAK_ARRAY, // dense or sparse
  TOKAMAK_LIST,
  TOKAMAK_FRAME
} tokamak_kind;

// Also in headers of programs that were compiled ahead of time.
#ifndef TOKAMAK_TYPES
#define TOKAMAK_TYPES
typedef enum tokamak_type {
  TOKAMAK_F64,
  TOKAMAK_F32,
  TOKAMAK_F16,
  TOKAMAK_BF16,
  TOKAMAK_I8,
  TOKAMAK_I16,
  TOKAMAK_I32,
  TOKAMAK_I64,
  TOKAMAK_U8,
  TOKAMAK_U16,
  TOKAMAK_U32,
  TOKAMAK_U64,
  TOKAMAK_BOOL // a byte, 0 or 1
} tokamak_type;

#define TOKAMAK_MOST_DIMENSIONS 8
#endif

TOKAMAK_API tokamak_kind tokamak_value_kind(const tokamak_value *value);
// One more owner, who frees it too.
TOKAMAK_API tokamak_value *tokamak_value_share(const tokamak_value *value);
TOKAMAK_API void tokamak_value_free(const tokamak_value *value);

TOKAMAK_API tokamak_value *tokamak_value_of_boolean(int value);
TOKAMAK_API tokamak_value *tokamak_value_of_integer(int64_t value);
TOKAMAK_API tokamak_value *tokamak_value_of_double(double value);
TOKAMAK_API tokamak_error *tokamak_value_of_text(const char *text, size_t bytes,
                                                 tokamak_value **value);
// Numbers convert: a boolean is 0 or 1, a double loses its fraction. An error for other kinds.
TOKAMAK_API tokamak_error *tokamak_value_double(const tokamak_value *value, double *number);
TOKAMAK_API tokamak_error *tokamak_value_integer(const tokamak_value *value, int64_t *number);
// `bytes` may be NULL.
TOKAMAK_API tokamak_error *tokamak_value_text(const tokamak_value *value, const char **text,
                                              size_t *bytes);

// An array over the caller's cells, row by row, which are not copied: nobody may write to them until `release(owner)` is
// called, by any thread, when the last array that shares them is gone. With `release` NULL they must outlive all values and
// calls. It is also called if this fails.
TOKAMAK_API tokamak_error *tokamak_value_of_array(tokamak_type type, int32_t rank,
                                                  const int64_t *sizes, const void *cells,
                                                  void (*release)(void *owner), void *owner,
                                                  tokamak_value **value);
// A matrix that stores entries only (compressed sparse rows) in the caller's memory, as above: rows + 1 offsets that begin
// with 0, and for each entry its column (from 0, ascending in each row) and its cell, of f64 or f32. An error says which entry is
// out of place.
TOKAMAK_API tokamak_error *tokamak_value_of_csr(tokamak_type type, int64_t rows, int64_t columns,
                                                const int64_t *offsets, const int32_t *indices,
                                                const void *cells, void (*release)(void *owner),
                                                void *owner, tokamak_value **value);

// Memory of a value, valid as long as it.
typedef struct tokamak_array {
  tokamak_type type;
  int32_t rank;
  int64_t sizes[TOKAMAK_MOST_DIMENSIONS];
  const void *cells; // row by row; of CSR: of the entries
  // NULL but for CSR. Of row r are the entries from offsets[r] up to, not including, offsets[r + 1].
  const int64_t *offsets;
  const int32_t *indices;
  // Whether nothing else can see the cells: who holds the value's only reference may write to them.
  int32_t is_unique;
} tokamak_array;
// All cells; of a sparse array a dense copy, which the value keeps.
TOKAMAK_API tokamak_error *tokamak_value_array(const tokamak_value *value, tokamak_array *array);
// As it is stored, dense or CSR.
TOKAMAK_API tokamak_error *tokamak_value_stored(const tokamak_value *value, tokamak_array *array);

// Elements by position, with `names` or NULL; they are shared, not taken.
TOKAMAK_API tokamak_error *tokamak_value_of_list(size_t count, const tokamak_value *const *elements,
                                                 const char *const *names, tokamak_value **value);
TOKAMAK_API size_t tokamak_value_count(const tokamak_value *list); // of elements, 0 for other kinds
// They belong to the list. NULL if there is no such element; the name is "" if it has none.
TOKAMAK_API const tokamak_value *tokamak_value_element(const tokamak_value *list, size_t index);
TOKAMAK_API const char *tokamak_value_name(const tokamak_value *list, size_t index);

// One column of a frame; the cells are copied.
typedef struct tokamak_column {
  size_t size; // sizeof(tokamak_column), also where the library fills it
  const char *name;
  tokamak_kind kind; // BOOLEAN, INTEGER, DOUBLE, TEXT
  const void
      *cells; // uint8_t, int64_t or double for each row; of texts: their bytes, one after the other
  const int64_t *offsets; // of texts: rows + 1, where each begins
  const uint8_t *missing; // of texts: not 0 where there is none; or NULL
} tokamak_column;
TOKAMAK_API tokamak_error *tokamak_value_of_frame(int64_t rows, size_t count,
                                                  const tokamak_column *columns,
                                                  tokamak_value **value);
TOKAMAK_API int64_t tokamak_frame_rows(const tokamak_value *frame);
TOKAMAK_API size_t tokamak_frame_columns(const tokamak_value *frame);
// As above; the memory belongs to the frame.
TOKAMAK_API tokamak_error *tokamak_frame_column(const tokamak_value *frame, size_t index,
                                                tokamak_column *column);

//===- programs ------------------------------------------------------------------------------===//

typedef struct tokamak_program tokamak_program;
typedef struct tokamak_function tokamak_function; // of a program, as long as it

typedef enum tokamak_precision {
  TOKAMAK_AUTOMATIC, // single in calls that are given arrays of f32 and none of f64
  TOKAMAK_DOUBLE_PRECISION,
  TOKAMAK_SINGLE_PRECISION
} tokamak_precision;

// Zeros and NULL are what is used without it.
typedef struct tokamak_options {
  size_t size;     // sizeof(tokamak_options)
  int32_t threads; // 0: all cores
  tokamak_precision precision;
  int32_t has_seed; // of random numbers without a seed of their own, in each call
  int64_t seed;
  const char *cache;     // folder of compiled code; NULL: the user's; "off": none
  const char *libraries; // folders with more DML builtins, with colons between
  const char *disable;   // passes and rules, with commas between
  // Receives what scripts print, and warnings; NULL: stdout, stderr. By the thread that calls, and also by others
  // in parallel loops.
  void (*output)(void *context, const char *text, size_t bytes);
  void (*warning)(void *context, const char *text);
  void *context;
} tokamak_options;

// The text of a script in DML. `name` of it for messages; paths in it are relative to the working folder. Finds mistakes of syntax.
TOKAMAK_API tokamak_error *tokamak_program_compile(const char *name, const char *text,
                                                   const tokamak_options *options,
                                                   tokamak_program **program);
// A script, or an ONNX model if the path ends with ".onnx": it has one function, "main", of its inputs.
TOKAMAK_API tokamak_error *tokamak_program_compile_file(const char *path,
                                                        const tokamak_options *options,
                                                        tokamak_program **program);
// The bytes of an ONNX model, which are copied. `name` of it for messages.
TOKAMAK_API tokamak_error *tokamak_program_compile_model(const char *name, const void *bytes,
                                                         size_t count,
                                                         const tokamak_options *options,
                                                         tokamak_program **program);
// No call of its functions may be running.
TOKAMAK_API void tokamak_program_free(tokamak_program *program);
// Runs a script's statements, with names and texts of its `$` arguments.
TOKAMAK_API tokamak_error *tokamak_program_run(tokamak_program *program, size_t count,
                                               const char *const *names, const char *const *texts);

// Its own functions, in its order.
TOKAMAK_API size_t tokamak_program_function_count(const tokamak_program *program);
TOKAMAK_API tokamak_function *tokamak_program_function_at(tokamak_program *program, size_t index);
// One of them or of the library.
TOKAMAK_API tokamak_error *tokamak_program_function(tokamak_program *program, const char *name,
                                                    tokamak_function **function);

TOKAMAK_API const char *tokamak_function_name(const tokamak_function *function);
TOKAMAK_API const char *
tokamak_function_comment(const tokamak_function *function); // above it, without number signs
// "f(X: matrix[double], k: int = 10) -> (C: matrix[double])"
TOKAMAK_API const char *tokamak_function_signature(const tokamak_function *function);
typedef struct tokamak_parameter {
  const char *name;
  const char *type;         // "matrix[double]", "int"
  const char *default_text; // as written; NULL: it must be given
} tokamak_parameter;
TOKAMAK_API size_t tokamak_function_parameter_count(const tokamak_function *function);
TOKAMAK_API tokamak_parameter tokamak_function_parameter(const tokamak_function *function,
                                                         size_t index);
TOKAMAK_API size_t tokamak_function_result_count(const tokamak_function *function);
TOKAMAK_API tokamak_parameter tokamak_function_result(const tokamak_function *function,
                                                      size_t index);

typedef struct tokamak_argument {
  const char *name; // NULL: by position, before all that have names
  const tokamak_value *value;
} tokamak_argument;

// All results, a list with their names. The first call with values of new kinds compiles. Scripts take arrays of one dimension for
// columns, and convert cells of other types than f64 (or f32, see tokamak_precision); models convert numbers to their types.
TOKAMAK_API tokamak_error *tokamak_function_call(tokamak_function *function,
                                                 const tokamak_argument *arguments, size_t count,
                                                 tokamak_value **results);
// Compiles and calls it anew, and explains what it does: `what` are words like "fusion,image" as of `tokamak run --explain=`.
// The text is a value.
TOKAMAK_API tokamak_error *tokamak_function_explain(tokamak_function *function,
                                                    const tokamak_argument *arguments, size_t count,
                                                    const char *what, tokamak_value **text);
// What compiling the script's functions took so far: numbers by name, a list. Times in nanoseconds.
TOKAMAK_API tokamak_error *tokamak_program_counts(tokamak_program *program, tokamak_value **counts);

//===- the process ---------------------------------------------------------------------------===//

// Stops all calls that are running, soon, or the next one if none is; they give an error. Signal handlers may call it.
TOKAMAK_API void tokamak_interrupt(void);
// For functions in tokamak_options, on whichever thread they run: stops only the call that they are called by, which calls none
// of them again and gives an error with this cause. 0 if it is stopped already, or if there is none: what compiles in the
// background may warn.
TOKAMAK_API int tokamak_stop_call(void *cause);
// Most memory that arrays may take in this process, in bytes. 0: four fifths of the machine's.
TOKAMAK_API void tokamak_set_memory(int64_t bytes);
// Memory of arrays now, in bytes: in use, and kept for reuse.
TOKAMAK_API void tokamak_memory(int64_t *in_use, int64_t *cached);
// Names of the functions of the library; NULL behind the last.
TOKAMAK_API const char *tokamak_library_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
