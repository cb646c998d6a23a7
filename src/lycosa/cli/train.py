"""`lycosa train ...`: the commands that learn from pages, links and browsing."""

from __future__ import annotations

from typing import Any, ClassVar

from lycosa.cli.commands import Commands


class Training(Commands):
    """The commands of `lycosa train`: what is none of their names is a source of pages."""

    lines: ClassVar = {
        "pages": "",
        "background": "Count words in your pages, to weigh words by.",
        "rules": "Learn which classes of pages link to which, for 'lycosa crawl --strategy rules,file=FILE'.",
        "browse": "Learn from browsing which pages lead to relevant ones, for 'lycosa crawl --strategy hmm,file=FILE'.",
    }
    places: ClassVar = {"pages": "train_pages", "background": "train_pages", "rules": "rules:train_rules"}

    usual = "pages"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is not the name of another command is a source, also a directory that is called like the usual one."""
        if args and (args[0] == self.usual or args[0] not in self.commands) and args[0] not in ("-h", "--help"):
            args = [self.usual, *args]
        found: list[str] = super().parse_args(ctx, args)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The usual command has no name of its own."""
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == self.usual else name, command, rest

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """As it is nearly always used."""
        formatter.write_usage(ctx.command_path, "SOURCE... [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options of the usual command, then the others."""
        parameters = self.load(self.usual).get_params(ctx)
        with formatter.section("Options"):
            formatter.write_dl([record for item in parameters if (record := item.get_help_record(ctx)) is not None])
        self.format_commands(ctx, formatter)


train = Training(
    name="train",
    help="Make a model of labelled pages: a classifier, for 'lycosa crawl --model FILE --target CLASS'.\n\n"
    "SOURCE is a directory with a directory of pages for each class (nested ones are a taxonomy: Science/Physics), "
    "a table of addresses and classes, a tab between them, or a crawl with labels (see 'lycosa label').\n\n"
    "At the end you are told how good it is, measured on pages held out.\n\n"
    "For example:  lycosa train my-pages/ --out my.model",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
