// All operations of the `tok` dialect, by theme.
#ifndef TOKAMAK_IR_TOK_OPS_TD
#define TOKAMAK_IR_TOK_OPS_TD
include "TokBase.td"
include "TokCellOps.td"
include "TokArrayOps.td"
include "TokControlOps.td"
include "TokProgramOps.td"
#endif
