"""Rewrites a function of Python so that its loops and branches can become operators of a program: `if`, `while`, `for`, `break`,
`continue`, `return`, `and`, `or`, `not` and conditional expressions call control.py, and go on as Python does where what they
depend on is known.

    captured(function)     # a function with the same variables, places in the file, and closures

What a function computes with in ways that can't be followed, such as `match` or names that it shares with others, keeps it as it is.
"""

import ast
import inspect
import textwrap
import types as python_types

from . import control

_RUNTIME = "_tk_control"


def captured(function):
    """(function, why it is the same as before or None)"""
    try:
        lines, first = inspect.getsourcelines(function.__code__)  # not what it wraps, as a decorator does
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, AttributeError):
        return function, "its source can't be read: write it in a file"
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function, "it is no plain function"
    reason = _obstacle(definition)
    if reason:
        return function, f"{reason} can't be followed"
    definition.decorator_list = []
    definition.name = "_tk_function"  # whose own name stays free for what it means in the function
    _Rewriter(definition).rewrite()
    free = function.__code__.co_freevars
    arguments = [ast.arg(name) for name in (_RUNTIME, *free)]
    factory = ast.FunctionDef(name="_tk_factory", args=ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[]),
                              body=[definition, ast.Return(ast.Name(definition.name, ast.Load()))], decorator_list=[], type_params=[])
    tree.body = [factory]
    ast.increment_lineno(ast.fix_missing_locations(tree), first - 1)
    code = compile(tree, inspect.getsourcefile(function) or "<captured>", "exec")
    inner = _code_of(_code_of(code, "_tk_factory"), definition.name)
    cells = dict(zip(free, function.__closure__ or ())) | {_RUNTIME: python_types.CellType(control)}
    made = python_types.FunctionType(inner.replace(co_name=function.__name__), function.__globals__, function.__name__, function.__defaults__,
                                     tuple(cells[name] for name in inner.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__
    return made, None


_BLOCKS = (ast.If, ast.While, ast.For, ast.With, ast.Try)
_JUMPS = (ast.Return, ast.Break, ast.Continue)


def _obstacle(definition):
    """What of a function keeps it from being rewritten, with its line, or None."""
    kinds = {ast.NamedExpr: "an assignment by :=", ast.Global: "`global`", ast.Nonlocal: "`nonlocal`", ast.AsyncFor: "`async for`",
             ast.AsyncWith: "`async with`", ast.Yield: "`yield`", ast.YieldFrom: "`yield from`", ast.Await: "`await`"}
    kinds |= {getattr(ast, name): text for name, text in (("Match", "`match`"), ("TryStar", "`except*`")) if hasattr(ast, name)}
    for node in ast.walk(definition):
        line = f" (line {getattr(node, 'lineno', 0) - definition.lineno + 1} of the function)"
        if type(node) in kinds:
            return kinds[type(node)] + line
        if isinstance(node, (ast.While, ast.For)) and node.orelse:
            return "`else` of a loop" + line
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            return "`del` of a variable" + line
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            return "a name with two underscores in front" + line
        if isinstance(node, ast.Try) and any(True for _ in _within([*ast.iter_child_nodes(node)], ast.If, ast.While, ast.For, *_JUMPS)):
            return "a branch, a loop or a jump within `try`" + line
        if isinstance(node, _BLOCKS) and any(True for _ in _within([*ast.iter_child_nodes(node)], ast.Import, ast.ImportFrom)):
            return "`import` in a branch or loop" + line
    return None


def _code_of(code, name):
    return next(each for each in code.co_consts if isinstance(each, python_types.CodeType) and each.co_name == name)


def _load(name):
    return ast.Name(name, ast.Load())


def _call(name, *arguments):
    return ast.Call(ast.Attribute(_load(_RUNTIME), name, ast.Load()), list(arguments), [])


def _assign(name, value):
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _no_arguments():
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _thunk(expression):
    return ast.Lambda(_no_arguments(), expression)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _within(statements, *kinds):
    """Nodes of these kinds in the same function."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            yield node
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))


_CHANGING = frozenset("""append appendleft add clear discard extend insert pop popitem popleft remove reverse setdefault sort
    update""".split())  # methods of Python's containers


def _changed(statements):
    """Names of what statements change in place: other names may stand for the same."""
    for node in _within(statements, ast.Call):
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr in _CHANGING and isinstance(method.value, ast.Name):
            yield method.value.id
    for node in _within(statements, ast.Subscript):
        if isinstance(node.ctx, (ast.Store, ast.Del)) and isinstance(node.value, ast.Name):
            yield node.value.id


def _has_effects(statements):
    """Whether statements change what is no variable: attributes, and parts of parts."""
    for node in _within(statements, ast.Attribute, ast.Subscript):
        if isinstance(node.ctx, (ast.Store, ast.Del)) and not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
            return True
    return any(isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING and not isinstance(node.func.value, ast.Name)
               for node in _within(statements, ast.Call))


def _assigned(statements):
    """Names that statements of the same function assign to, or to parts of."""
    names = {node.id for node in _within(statements, ast.Name) if isinstance(node.ctx, ast.Store)}
    names |= {node.name for node in _within(statements, ast.FunctionDef, ast.ClassDef)}
    return sorted(names | set(_changed(statements)))


#===- which variables matter -----------------------------------------------------------------------------------------===

def _loaded(*nodes):
    return {each.id for node in nodes if node is not None for each in ast.walk(node) if isinstance(each, ast.Name) and
            not isinstance(each.ctx, ast.Store)}


def _note_state(statements, after, variables, always=None):
    """Variables that are read later when statements begin, if those of `after` are when they end. Notes at each branch and loop as
    its `state` what it assigns to and is read later: others hold what is needed in one step alone, and at each branch as `first` those
    of them that a side may read before it assigns to them. What is read by functions within the function, which may be called at any
    time, is in `after` from the start and stays."""
    always = after if always is None else always
    for statement in reversed(statements):
        if isinstance(statement, ast.If):
            within = _note_state(statement.body, after, variables, always) | _note_state(statement.orelse, after, variables, always)
            both = [*statement.body, *statement.orelse]
            statement.state = _state(both, after, variables)
            statement.first = [name for name in _state(both, within, variables) if name not in statement.state]
            after = _loaded(statement.test) | within
        elif isinstance(statement, (ast.While, ast.For)):
            is_for = isinstance(statement, ast.For)
            head = after | _loaded(getattr(statement, "goes_on", None), None if is_for else statement.test)
            target = _stored(statement.target) if is_for else set()
            while True:
                before = head | (_note_state(statement.body, head, variables, always) - target)
                if before == head:
                    break
                head = before
            statement.state = _state([*([statement.target] if is_for else []), *statement.body], head, variables)
            after = head | (_loaded(statement.iter) if is_for else set())
        elif isinstance(statement, (ast.With, ast.Try)):
            after = after | _loaded(statement)  # a `try` has no branches and loops within
            if isinstance(statement, ast.With):
                _note_state(statement.body, after, variables, always)
        elif isinstance(statement, (ast.Return, ast.Raise)):
            after = _loaded(statement)
        else:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):  # may read its variables at any later time
                after = after | _loaded(statement)
            kept = _loaded(statement)
            if isinstance(statement, ast.AugAssign):
                kept |= _stored(statement.target)
            after = (after - _stored(statement)) | kept
        after = after | always
    return after


def _stored(node):
    return {each.id for each in _within([node], ast.Name) if isinstance(each.ctx, ast.Store)}


def _state(statements, later, variables):
    changed = set(_changed(statements))
    return [name for name in _assigned(statements) if name in variables and (name in later or name in changed)]


def _always_returns(statements):
    last = statements[-1] if statements else None
    return isinstance(last, (ast.Return, ast.Raise)) or (isinstance(last, ast.If) and _always_returns(last.body) and
                                                         _always_returns(last.orelse))


class _Rewriter:
    def __init__(self, definition):
        self.definition = definition
        arguments = definition.args
        self.parameters = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                                                 *filter(None, (arguments.vararg, arguments.kwarg)))}
        self.count = 0
        self.returns_by_flag = any(True for each in definition.body for _ in self._nested_returns(each))

    def fresh(self, name):
        self.count += 1
        return f"_tk_{name}_{self.count}"

    def rewrite(self):
        body = self.definition.body
        if self.returns_by_flag:
            rest = [] if _always_returns(body) else [ast.Return(ast.Constant(None))]
            body = [_assign("_tk_returned", ast.Constant(False)), *self.without_jumps([*body, *rest], None), ast.Return(_load(control.RESULT))]
        else:
            body = self.without_jumps(body, None)
        scopes = [each for each in ast.walk(self.definition) if isinstance(each, (ast.FunctionDef, ast.Lambda)) and each is not self.definition]
        _note_state(body, _loaded(*scopes), self.parameters | set(_assigned(body)))
        inner = [each for each in _within(body, ast.If, ast.While, ast.For)]
        names = [name for name in _assigned(inner) if name not in self.parameters]
        body = self.blocks(_Expressions().statements(body))
        start = [_assign(name, _call("Undefined", ast.Constant(name))) for name in names]
        self.definition.body = start + body

    #===- jumps ------------------------------------------------------------------------------------------------------===

    def _nested_returns(self, statement):
        return _within([statement], ast.Return) if isinstance(statement, (ast.If, ast.While, ast.For, ast.With)) else ()

    def without_jumps(self, statements, loop):
        """break, continue and return become flags, and what follows them is done where none is set. `loop`: (flag of break, flag of
        continue) of the innermost."""
        result = []
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.AnnAssign):
                result.append(ast.copy_location(ast.Assign([statement.target], statement.value), statement) if statement.value else
                              ast.copy_location(ast.Pass(), statement))
                continue
            if isinstance(statement, ast.Raise):
                return [*result, ast.copy_location(ast.Expr(_call("refuse_raise")), statement), statement]
            if isinstance(statement, ast.Return) and self.returns_by_flag:
                return [*result, _assign(control.RESULT, statement.value or ast.Constant(None)), _assign("_tk_returned", ast.Constant(True))]
            if isinstance(statement, (ast.Break, ast.Continue)):
                return [*result, _assign(loop[0 if isinstance(statement, ast.Break) else 1], ast.Constant(True))]
            flags = self._flags(statement, loop)
            result += self._converted(statement, loop)
            if flags and statements[i + 1:]:
                rest = self.without_jumps(statements[i + 1:], loop)
                return [*result, ast.copy_location(ast.If(_call("none_of", *map(_load, flags)), rest, []), statement)]
        return result

    def _flags(self, statement, loop):
        """Those that a statement may set and that what follows it in the same block must ask for."""
        if not isinstance(statement, (ast.If, ast.While, ast.For, ast.With)):
            return []
        flags = ["_tk_returned"] if any(True for _ in _within([statement], ast.Return)) else []
        if isinstance(statement, (ast.While, ast.For)):
            return flags
        for kind, flag in ((ast.Break, 0), (ast.Continue, 1)):
            if any(True for _ in self._own_jumps(statement, kind)):
                flags.append(loop[flag])
        return flags

    def _own_jumps(self, statement, kind):
        """Those that don't belong to a loop within the statement."""
        stack = [statement]
        while stack:
            node = stack.pop()
            if isinstance(node, kind):
                yield node
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, (*_SCOPES, ast.While, ast.For)):
                    stack.append(child)

    def _converted(self, statement, loop):
        if isinstance(statement, ast.If):
            statement.body = self.without_jumps(statement.body, loop)
            statement.orelse = self.without_jumps(statement.orelse, loop)
        elif isinstance(statement, (ast.While, ast.For)):
            return self._converted_loop(statement)
        elif isinstance(statement, ast.With):
            statement.body = self.without_jumps(statement.body, loop)
        return [statement]

    def _converted_loop(self, statement):
        own = (self.fresh("left"), self.fresh("skipped"))
        breaks = any(True for each in statement.body for _ in self._own_jumps(each, ast.Break))
        skips = any(True for each in statement.body for _ in self._own_jumps(each, ast.Continue))
        returns = any(True for _ in _within(statement.body, ast.Return))
        statement.body = self.without_jumps(statement.body, own)
        before = []
        if skips:
            statement.body.insert(0, _assign(own[1], ast.Constant(False)))
        flags = [own[0]] * breaks + ["_tk_returned"] * returns
        if breaks:
            before.append(_assign(own[0], ast.Constant(False)))
        statement.goes_on = _call("none_of", *map(_load, flags)) if flags else None
        return [*before, statement]

    #===- blocks -----------------------------------------------------------------------------------------------------===

    def blocks(self, statements):
        result = []
        for statement in statements:
            if isinstance(statement, ast.If):
                result += self._if(statement)
            elif isinstance(statement, ast.While):
                result += self._loop(statement)
            elif isinstance(statement, ast.For):
                result += self._loop(statement)
            elif isinstance(statement, ast.With):
                statement.body = self.blocks(statement.body)
                result.append(statement)
            else:
                result.append(statement)
        return result

    def _function(self, name, body, argument=None):
        arguments = _no_arguments()
        if argument:
            arguments.args = [ast.arg(argument)]
        own = _assigned(body)
        scope = [ast.Nonlocal(own)] if own else []
        return ast.FunctionDef(name=name, args=arguments, body=[*scope, *self.blocks(body)] or [ast.Pass()], decorator_list=[], type_params=[])

    def _state(self, names):
        """Definitions of get and put, and the arguments for them."""
        get, put, values = self.fresh("get"), self.fresh("put"), self.fresh("values")
        taken = ast.FunctionDef(name=get, args=_no_arguments(), decorator_list=[], type_params=[],
                                body=[ast.Return(ast.Tuple([_load(name) for name in names], ast.Load()))])
        arguments = _no_arguments()
        arguments.args = [ast.arg(values)]
        body = [ast.Nonlocal(names), ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())], _load(values))]
        given = ast.FunctionDef(name=put, args=arguments, decorator_list=[], type_params=[], body=body if names else [ast.Pass()])
        texts = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
        return [taken, given], [_load(get), _load(put), texts]

    def _placed(self, statements, like):
        for each in statements:
            ast.copy_location(each, like)
            each.end_lineno, each.end_col_offset = each.lineno, each.col_offset  # errors name the line on which it begins
        return statements

    def _if(self, statement):
        names = [*statement.state, *statement.first]
        then, otherwise = self.fresh("then"), self.fresh("otherwise")
        definitions = [self._function(then, statement.body), self._function(otherwise, statement.orelse)]
        state, arguments = self._state(names)
        effects = ast.Constant(_has_effects([*statement.body, *statement.orelse]))
        count = ast.Constant(len(statement.state))
        call = ast.Expr(_call("if_", statement.test, _load(then), _load(otherwise), *arguments, effects, count))
        return self._placed([*definitions, *state, call], statement)

    def _loop(self, statement):
        is_for, goes_on = isinstance(statement, ast.For), getattr(statement, "goes_on", None)
        names = statement.state
        body, test, item = self.fresh("body"), self.fresh("test"), self.fresh("item")
        state, arguments = self._state(names)
        if is_for:
            first = ast.Assign([statement.target], _load(item))
            definitions = [self._function(body, [first, *statement.body], item)]
            tested = ast.Constant(None)
        else:
            definitions = [self._function(body, statement.body)]
            tested = statement.test
        if goes_on is not None:
            tested = goes_on if is_for else _call("and_", goes_on, _thunk(statement.test))
        if not is_for or goes_on is not None:
            definitions.append(ast.FunctionDef(name=test, args=_no_arguments(), body=[ast.Return(tested)], decorator_list=[], type_params=[]))
            tested = _load(test)
        effects = ast.Constant(_has_effects(statement.body))
        call = (_call("for_", statement.iter, _load(body), *arguments, effects, tested) if is_for else
                _call("while_", tested, _load(body), *arguments, effects))
        return self._placed([*definitions, *state, ast.Expr(call)], statement)


class _Expressions(ast.NodeTransformer):
    """and, or, not, chains of comparisons, conditional expressions and range()."""

    def statements(self, statements):
        return [self.visit(each) for each in statements]

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        result = node.values[-1]
        for each in reversed(node.values[:-1]):
            result = _call(name, each, _thunk(result))
        return ast.copy_location(result, node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.copy_location(_call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        arguments = _no_arguments()
        arguments.args = [ast.arg("left"), ast.arg("right")]
        steps = [ast.Tuple([ast.Lambda(arguments, ast.Compare(_load("left"), [op], [_load("right")])), _thunk(operand)], ast.Load())
                 for op, operand in zip(node.ops, node.comparators)]
        return ast.copy_location(_call("compared", node.left, *steps), node)

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return ast.copy_location(_call("choose", node.test, _thunk(node.body), _thunk(node.orelse)), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "range" and not node.keywords:
            return ast.copy_location(_call("range_", node.func, *node.args), node)
        return node
