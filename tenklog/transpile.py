"""Transpile: this module runs DuckDB's SQL, our own, on Spark: its syntax tree with macros expanded, written anew.

What sqlglot does not translate as DuckDB means it is changed in the tree. What somebody typed comes as a parameter and
is a value in Spark's plan, never a part of a text. Needs sqlglot and pyspark.
"""

from typing import TYPE_CHECKING, Any, Self

from sqlglot import ErrorLevel, exp, parse_one

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Connection:
    """Does on a session what `stats.prepare` and reports ask of DuckDB; tables and views are views of its own there."""

    def __init__(self, spark: "SparkSession") -> None:
        self.spark = spark.newSession()
        self._macros: dict[str, tuple[list[str], exp.Expr]] = {}
        self._found: DataFrame | None = None
        self._kept: list[DataFrame] = []

    def close(self) -> None:
        """Let go of what was kept."""
        for rows in self._kept:
            rows.unpersist()

    def give(self, name: str, rows: "DataFrame") -> None:
        """Name some rows, as SCHEMA.TABLE."""
        rows.createOrReplaceTempView(view(*name.split(".")))

    def execute(self, query: str, parameters: object = None, /) -> Self:
        """Run one statement; what it selects is worked out when it is fetched."""
        tree = parse_one(query, read="duckdb")
        if not isinstance(tree, exp.Create):
            for part in [one for one in tree.find_all(exp.CTE) if one.args.get("materialized")]:
                self.give(f"main.{part.alias}", self._keep(self._select(part.this, parameters)))
                part.pop()
            self._found = self._select(tree, parameters)
            return self
        made, body, kind = tree.this, tree.expression, tree.args["kind"]
        if kind == "MACRO":
            self._macros[made.this.name] = ([one.name for one in made.expressions], body)
            return self
        rows = self._select(body, parameters)
        self.give(f"{made.db}.{made.name}", self._keep(rows) if kind == "TABLE" else rows)
        return self

    def _keep(self, rows: "DataFrame") -> "DataFrame":
        """Let rows be worked out once; those that are lost with an executor are worked out again."""
        self._kept.append(rows.cache())
        return self._kept[-1]

    def _select(self, tree: exp.Expr, parameters: object) -> "DataFrame":
        given = dict(parameters) if isinstance(parameters, dict) else None
        return self.spark.sql(translate(expand(tree, self._macros)), args=given)

    @property
    def description(self) -> list[tuple[str, str]]:
        """Return the names of the columns and their types, in DuckDB's words."""
        assert self._found is not None
        return [(name, exp.DataType.build(kind, dialect="spark").sql("duckdb")) for name, kind in self._found.dtypes]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        assert self._found is not None
        return [tuple(row) for row in self._found.collect()]

    def fetchmany(self, size: int = 1, /) -> list[tuple[Any, ...]]:
        """Return the first rows."""
        assert self._found is not None
        return [tuple(row) for row in self._found.take(size)]


def view(schema: str, table: str) -> str:
    """Name a view: Spark knows no schemas of those that end with the session."""
    return table if schema == "main" else f"{schema}_{table}"


def type_of(kind: str) -> str:
    """Write a type of DuckDB's as Spark's."""
    return exp.DataType.build(kind, dialect="duckdb").sql("spark")


def expand(tree: exp.Expr, macros: dict[str, tuple[list[str], exp.Expr]]) -> exp.Expr:
    """Return a tree with macros (parameters and body, by name) replaced by what they stand for."""

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Anonymous) or node.name.lower() not in macros:
            return node
        names, body = macros[node.name.lower()]
        given = dict(zip(names, (expand(one, macros) for one in node.expressions), strict=True))

        def placed(one: exp.Expr) -> exp.Expr:
            value = given.get(one.name) if isinstance(one, exp.Column) and not one.table else None
            return one if value is None else _wrapped(value)

        return _wrapped(expand(body.transform(placed), macros))

    return tree.transform(replaced)


def _wrapped(node: exp.Expr) -> exp.Expr:
    # Only where it is needed: Spark takes the WHERE of `FROM rolls WHERE (true)` for a name of `rolls`.
    return exp.paren(node) if isinstance(node, exp.Binary | exp.Unary | exp.Predicate) else node


def translate(tree: exp.Expr) -> str:
    """Write a question in DuckDB's SQL as Spark's."""
    tree = tree.copy()
    for node in reversed(list(tree.walk())):  # the innermost first
        if isinstance(node, exp.Table) and node.db:
            node.set("this", exp.to_identifier(view(node.db, node.name)))
            node.set("db", None)
        elif isinstance(node, exp.Literal) and not node.is_string and "." in node.name:
            # As a decimal it would make the division one of decimals; DuckDB divides doubles.
            node.replace(exp.Literal(this=f"{node.name}D", is_string=False))
        elif isinstance(node, exp.ArgMin | exp.ArgMax):
            known = exp.Where(this=node.this.copy().is_(exp.null()).not_())  # DuckDB leaves out rows without it
            node.replace(exp.Filter(this=node.copy(), expression=known))
        elif isinstance(node, exp.ArrayOverlaps):
            node.replace(exp.Anonymous(this="arrays_overlap", expressions=[node.this, node.expression]))
        elif isinstance(node, exp.Anonymous) and node.name.lower() == "list_sum":
            total = parse_one("aggregate(numbers, 0D, (a, b) -> a + b)", read="spark")
            numbers = total.find(exp.Column)
            assert numbers is not None
            numbers.replace(node.expressions[0])
            node.replace(total)
    return tree.sql("spark", identify=True, unsupported_level=ErrorLevel.RAISE)
