#include "api/Handles.h"

using namespace tokamak;

static tokamak_status statusOf(const Error &error, api::Stage stage) {
  if (dynamic_cast<const api::Rejected *>(&error))
    return TOKAMAK_REJECTED;
  switch (error.kind()) {
  case ErrorKind::Internal:
    return TOKAMAK_INTERNAL;
  case ErrorKind::Interrupted:
    return TOKAMAK_INTERRUPTED;
  case ErrorKind::User:
  case ErrorKind::Stop:
    break;
  }
  return stage == api::Stage::Preparing ? TOKAMAK_REJECTED : TOKAMAK_FAILED;
}

tokamak_error *api::errorOf(const Error &error, Program *program, Stage stage) {
  auto *made =
      new tokamak_error{statusOf(error, stage), error.message(), error.message() + "\n", {}};
  made->file = error.place().file;
  made->line = error.place().line;
  made->column = error.place().column;
  if (auto *rejected = dynamic_cast<const Rejected *>(&error))
    made->text = rejected->text();
  else if (program)
    made->text = program->describe(error);
  return made;
}

tokamak_status tokamak_error_status(const tokamak_error *error) { return error->status; }
const char *tokamak_error_message(const tokamak_error *error) { return error->message.c_str(); }
const char *tokamak_error_text(const tokamak_error *error) { return error->text.c_str(); }
const char *tokamak_error_file(const tokamak_error *error) { return error->file.c_str(); }
int32_t tokamak_error_line(const tokamak_error *error) { return error->line; }
int32_t tokamak_error_column(const tokamak_error *error) { return error->column; }
void *tokamak_error_cause(const tokamak_error *error) { return error->cause; }
void tokamak_error_free(tokamak_error *error) { delete error; }
