"""An evaluation in words: what the figures mean to somebody who is about to choose a threshold. Pure."""

from __future__ import annotations

from datetime import datetime

from bot.counted import counted
from bot.evaluation.metrics import Speaking
from bot.evaluation.report import BEARABLE, FEW, Evaluation, Reason, others_needed
from bot.wilson import Interval

# With fewer comments at a threshold the share that is right is a rough guess.
_FEW_COMMENTS = 20


def basis(found: Evaluation) -> str:
    """What the figures were made from."""
    known = counted(found.retrieval.queries, "known duplicate")
    text = f"{counted(found.issues, 'issue')}, of which {found.arrivals:,} can be judged"
    kinds = f"{known}, and {found.silent:,} that {_repeat(found)} nothing."
    if found.asked == found.arrivals:
        return f"{text}: {kinds}"
    asked = f"It was asked about {found.asked:,} of them: {kinds}"
    return f"{text}. {asked} The numbers of comments are estimates for all {found.arrivals:,}."


def counts(found: Evaluation) -> str:
    """The two kinds of issues that figures are about, in a line."""
    silent = counted(found.silent, "issue")
    return f"{counted(found.retrieval.queries, 'known duplicate')} and {silent} that {_repeat(found)} nothing"


def finding(found: Evaluation) -> str:
    """How well originals are found."""
    if not found.retrieval.queries:
        return (
            "None of these is a known duplicate of an earlier issue, so that only how often it would speak can be said,"
            " not how much it finds, nor how many comments are right."
        )
    return (
        f"{percent(found.retrieval.rr[5])} of the known duplicates have an original among the first five candidates, "
        f"{percent(found.retrieval.rr[10])} among the first ten{_between(found.rr_intervals.get(10))}."
    )


def confidence(found: Evaluation) -> str:
    """How far the confidence can be trusted; empty where no duplicate is known, and so not which candidate is right."""
    got = found.calibration
    if not got.answers:
        return "No candidate was found for any issue, so that nothing can be said of the confidence."
    if not found.retrieval.queries:
        return ""
    text = f"The confidence of the first candidate is off by {_points(got.ece)} on average"
    if got.ece_high is not None:
        text += f"; where it is 30% or more, by {_points(got.ece_high)} ({counted(got.answers_high, 'answer')})"
    return text + "."


def at_threshold(found: Evaluation, row: Speaking) -> str:
    """What the threshold that is set means in an average month, and in all."""
    month = found.monthly[row.cut]
    text = (
        f"At {threshold(row.cut)}, which is set, a month with {_few(month.issues, 'issue')}, as those of the last year "
        f"had on average, would bring {_few(month.comments, 'comment')}"
    )
    if not found.retrieval.queries:
        return text + "."
    return f"{text}, {_average(month.right)} of them right. In all it {_shares(found, row, 'catches', 'bothers')}."


def last_month(found: Evaluation) -> str:
    """What would have happened in the last month, at the threshold that is recommended or else at the present one.

    Empty where nothing of that month can be judged.
    """
    month = found.last_month[spoken_of(found)]
    if not month.issues:
        return ""
    text = (
        f"At {threshold(spoken_of(found))} it would have commented on {_about(found)}{round(month.comments):,} of "
        f"{counted(round(month.issues), 'issue')} in the last month{_rightly(found, month.comments, month.right)}"
    )
    # Of a file the newest issue may be years old.
    return text + (
        "." if found.period is None else f": the 30 days up to the newest issue, of {_day(found.period[1])}."
    )


def history(found: Evaluation) -> str:
    """The same of all arrivals that can be judged."""
    cut = spoken_of(found)
    row = next(row for row in (*found.curve, found.at) if row.cut == cut)
    issues = counted(found.arrivals, "issue")
    when = "" if found.period is None else f", from {_day(found.period[0])} on and that month included,"
    text = (
        f"Over the whole history{when} it would have commented on {_about(found)}{round(row.comments):,} of {issues}"
        f"{_rightly(found, row.comments, row.right)}"
    )
    if not found.retrieval.queries:
        return text + "."
    return f"{text}: it would have {_shares(found, row, 'caught', 'bothered')}."


def _rightly(found: Evaluation, comments: float, right: float) -> str:
    """How many of these comments are right; empty without comments, and where nobody marked any duplicate."""
    return f", on {round(right):,} of them rightly" if found.retrieval.queries and round(comments) else ""


def caught(found: Evaluation, row: Speaking) -> str:
    """The share of the known duplicates that are told so; `–` where there are none."""
    return percent(row.caught if found.retrieval.queries else None)


def bothered(found: Evaluation, row: Speaking) -> str:
    """The share of the other authors that get a comment; `–` where each issue is a duplicate."""
    return percent(row.false_alarms if found.silent else None)


def _shares(found: Evaluation, row: Speaking, catches: str, bothers: str) -> str:
    """Both in words, one alone where there is nobody to say the other of."""
    said = [f"{catches} {caught(found, row)} of the known duplicates"] if found.retrieval.queries else []
    said += [f"{bothers} {bothered(found, row)} of the other authors"] if found.silent else []
    return " and ".join(said)


def spoken_of(found: Evaluation) -> float:
    """The threshold that sentences are about: the recommended one, or else the present one."""
    return found.at.cut if found.advice.threshold is None else found.advice.threshold


def _about(found: Evaluation) -> str:
    """Where a sample stands for all, numbers are about right."""
    return "about " if found.asked < found.arrivals else ""


def advice(found: Evaluation) -> str:
    """What to set, and why; or why nothing can be said."""
    bearable, half = percent(BEARABLE), percent(BEARABLE / 2)
    match found.advice.reason:
        case Reason.FEW_DUPLICATES | Reason.FEW_OTHERS:
            return _too_few(found)
        case Reason.NOTHING_BEARABLE:
            return (
                f"No threshold catches a known duplicate and surely bothers no more than {bearable} of the other "
                f"authors: let it answer when it is asked, and not by itself.{_not_one(found)}"
            )
        case Reason.RIGHT:
            why = (
                "it catches most where every second comment is right and surely no more than "
                f"{bearable} of the other authors are bothered"
            )
        case Reason.CALM:
            why = f"no threshold is right every second time, and this one bothers at most {half} of the other authors"
    row = next(row for row in found.curve if row.cut == found.advice.threshold)
    text = f"Recommended is min_confidence: {row.cut:g}, since {why}.{_not_one(found)}"
    if row.comments < _FEW_COMMENTS:
        text += f" It rests on {_about(found)}{counted(round(row.comments), 'comment')} in all, which is little."
    return text


def _too_few(found: Evaluation) -> str:
    """Each number that is too low, beside the one that it takes."""
    known, others = found.retrieval.queries, others_needed(0)
    lacking = [f"{counted(known, 'known duplicate')} ({FEW} are needed)"] if known < FEW else []
    if found.silent < others:
        repeat = f"{counted(found.silent, 'issue')} that {_repeat(found)} nothing"
        lacking.append(f"{repeat} ({others} are needed to tell {percent(BEARABLE)} from none)")
    return f"Too few to say where the threshold should be: {' and '.join(lacking)}."


def _not_one(found: Evaluation) -> str:
    """Where there are so few others that a single false alarm is more than can be borne, that it is so."""
    enough = others_needed(1)
    if found.silent >= enough:
        return ""
    return (
        f" With only {counted(found.silent, 'issue')} that repeat nothing, a comment on even one of them is too many: "
        f"it takes {enough} to tell one from more than {percent(BEARABLE)}."
    )


def unmarked(found: Evaluation) -> str:
    """What the list is of the likeliest of those that nobody marked; empty where there is none."""
    if not found.unmarked:
        return ""
    if not found.retrieval.queries:
        return "These are the likeliest. Read some: how many are the same is how many comments would be right."
    return (
        "These are the likeliest of those that nobody marked as duplicates: in the figures they are alarms for "
        "nothing. Read some. Where they are the same after all, it is better than the figures say."
    )


def caution(found: Evaluation, *, of_file: bool = False) -> str:
    """What every reader of such figures has to know; `of_file` is whether they are of no repository, but of a file."""
    if not found.retrieval.queries:
        how = "Mark a few duplicates in duplicate_of" if of_file else "Close a few duplicates by GitHub's own menu"
        return f"{how}, and evaluate again: then it says how many it finds."
    text = (
        "A duplicate that nobody marked counts as an alarm for nothing here, so comments are right more often than "
        "these figures say."
    )
    interval = found.rr_intervals.get(10)
    if interval and interval[1] - interval[0] > 0.2:
        text += f" With {counted(found.retrieval.queries, 'known duplicate')} every figure is a rough one."
    return text


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def threshold(cut: float) -> str:
    """`.62`, as thresholds are written everywhere here; in thousandths where it is one of those.

    `–` above 1, where no probability is: there none can be set that does what is said.
    """
    return "–" if cut > 1 else f"{cut:.3f}".removeprefix("0").removesuffix("0")


def percent(share: float | None) -> str:
    """`22%`, with a decimal below ten; `–` where there is none."""
    if share is None:
        return "–"
    digits = f"{share * 100:.0f}" if share >= 0.0995 else f"{share * 100:.1f}".removesuffix(".0")
    return f"{digits}%"


def interval(bounds: Interval | None) -> str:
    """`11–19%`; empty where there is none."""
    return f"{bounds[0] * 100:.0f}–{bounds[1] * 100:.0f}%" if bounds else ""


def _between(bounds: Interval | None) -> str:
    """The interval of a share, in brackets."""
    return f" ({interval(bounds)}, at 95%)" if bounds else ""


def a_month(number: float) -> str:
    """Comments in an average month; a few in a year are not none: `<0.1`."""
    return "<0.1" if 0 < number < 0.05 else f"{number:.1f}"


def _points(share: float) -> str:
    return f"{share * 100:.1f} percentage points"


def _repeat(found: Evaluation) -> str:
    """What those do that nobody marked."""
    return "repeats" if found.silent == 1 else "repeat"


def _few(number: float, what: str) -> str:
    return f"{_average(number)} {what}" if number == 1 else f"{_average(number)} {what}s"


def _average(number: float) -> str:
    """A number of issues; below ten with a decimal, since it is an average."""
    return f"{number:,.0f}" if number >= 9.95 or number == round(number) else f"{number:.1f}"
