"""Describes an evaluation in sentences, for somebody who is about to choose a threshold. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.domain.formats import counted
from bot.domain.likelihood import Interval
from bot.quality.evaluation.figures import BEARABLE, FEW, LEAST, OTHERS_NEEDED, AdviceReason, Evaluation, Monthly
from bot.quality.evaluation.measures import HIGH, CalibrationBin, ThresholdOutcome

# If a threshold brings fewer comments than this, the share of right comments is a rough guess.
_FEW_COMMENTS = 20


def basis(found: Evaluation) -> str:
    """Which issues the evaluation rests on, and whether it asked about a sample only."""
    known = counted(found.retrieval.queries, "known duplicate")
    text = f"{counted(found.issues, 'issue')}, of which {found.arrivals:,} can be judged"
    kinds = f"{known}, and {found.silent:,} that nobody marked."
    if found.asked == found.arrivals:
        return f"{text}: {kinds}"
    asked = f"It was asked about {found.asked:,} of them: {kinds}"
    return f"{text}. {asked} The numbers of comments are estimates for all {found.arrivals:,}."


def counts(found: Evaluation) -> str:
    silent = counted(found.silent, "issue")
    return f"{counted(found.retrieval.queries, 'known duplicate')} and {silent} that nobody marked"


def finding(found: Evaluation) -> str:
    if not found.retrieval.queries:
        return (
            "None of these is a known duplicate of an earlier issue. So this says how often the bot would comment, but "
            "not how many duplicates it would find."
        )
    bounds = interval(found.rr_intervals.get(5))
    return (
        f"{percent(found.retrieval.rr[5])} of the known duplicates have an original among the first five candidates"
        f"{f' ({bounds}, at 95%)' if bounds else ''}, {percent(found.retrieval.rr[10])} among the first ten."
    )


def confidence(found: Evaluation) -> str:
    """How the confidence compares with the marks. The text is empty if there are candidates but no known duplicates."""
    calibration = found.calibration
    if not calibration.answers:
        return "No candidate was found for any issue, so this says nothing about the confidence."
    if not found.retrieval.queries:
        return ""
    high = [bin for bin in calibration.bins if bin.low >= HIGH]
    subject = "The first candidates" + (f" with {percent(HIGH)} or more" if high else "")
    expected, marked, answers = _means(high or calibration.bins)
    text = (
        "The confidence is how likely a careful reader is to call two issues the same. People mark "
        f"fewer pairs. {subject} have {percent(expected)} on average, and {percent(marked)} of them "
        f"are marked ({counted(answers, 'answer')})"
    )
    return text + (": more than that, so the confidence is too low here." if marked > expected else ".")


def _means(bins: Sequence[CalibrationBin]) -> tuple[float, float, int]:
    """The mean confidence of some bins, the share that is marked, and the number of answers."""
    weight = sum(one.weight for one in bins)
    expected = sum(one.weight * one.confidence for one in bins) / weight
    marked = sum(one.weight * one.right for one in bins) / weight
    return expected, marked, sum(one.count for one in bins)


def at_threshold(found: Evaluation, row: ThresholdOutcome) -> str:
    """The effect of the configured threshold in an average month, and on all arrivals."""
    month = found.monthly[row.cut]
    text = (
        f"At {threshold(row.cut)}, which is set, an average month of the last year "
        f"({_average(month.issues, 'issue')}) would bring {_average(month.comments, 'comment')}"
        f"{_same_reports(found, month)}."
    )
    if not found.retrieval.queries:
        return text
    return f"{text} In all it {_shares(found, row, 'catches', 'comments on')}."


def last_month(found: Evaluation) -> str:
    """How often the bot would have commented in the last month, at `discussed_threshold`."""
    cut = discussed_threshold(found)
    month = found.last_month[cut]
    return (
        f"At {threshold(cut)} it would have commented on {_about(found)}{round(month.comments):,} of "
        f"{counted(round(month.issues), 'issue')} in the last month{_same_reports(found, month)}: the 30 days up to "
        # The sentence names the day, because the newest issue of a file may be years old.
        f"the newest issue, of {_day(found.period[1])}. Nobody has triaged these issues "
        "yet, so unmarked ones may still be duplicates."
    )


def history(found: Evaluation) -> str:
    """Like `last_month`, for all arrivals that can be judged."""
    cut = discussed_threshold(found)
    row = next(row for row in (*found.curve, found.at) if row.cut == cut)
    issues = counted(found.arrivals, "issue")
    text = (
        f"Over the whole history, from {_day(found.period[0])} on, it would have commented on "
        f"{_about(found)}{round(row.comments):,} of {issues}{_same_reports(found, row)}"
    )
    wrong = f" People called {round(row.wrong):,} of these comments wrong." if round(row.wrong) else ""
    if not found.retrieval.queries:
        return f"{text}.{wrong}"
    return f"{text}: it would have {_shares(found, row, 'caught', 'commented on')}.{wrong}"


def _same_reports(found: Evaluation, row: Monthly | ThresholdOutcome) -> str:
    """How many comments name a report of the same problem: by confidence, then by the marks. Empty without comments."""
    if not round(row.comments):
        return ""
    marked = f", {round(row.right):,} by mark" if found.retrieval.queries else ""
    return f" (naming the same report: {round(row.said):,} by confidence{marked})"


def caught(found: Evaluation, row: ThresholdOutcome) -> str:
    """The share of the known duplicates that are caught; `–` without known duplicates."""
    return percent(row.caught if found.retrieval.queries else None)


def same(row: ThresholdOutcome) -> str:
    """The mean confidence of the comments' first candidates; `–` without comments."""
    return percent(row.said / row.comments if row.comments else None)


def others(found: Evaluation, row: ThresholdOutcome) -> str:
    """The share of the unmarked issues that get a comment; `–` if every issue is a duplicate."""
    return percent(row.false_alarms if found.silent else None)


def _shares(found: Evaluation, row: ThresholdOutcome, catch_verb: str, comment_verb: str) -> str:
    """The shares of duplicates that are caught and of other issues that get a comment. Omits an empty group's share."""
    parts = [f"{catch_verb} {caught(found, row)} of the known duplicates"] if found.retrieval.queries else []
    parts += [f"{comment_verb} {others(found, row)} of the other issues"] if found.silent else []
    return " and ".join(parts)


def discussed_threshold(found: Evaluation) -> float:
    """The threshold that the sentences speak of: the recommended one, or the configured one if none is recommended."""
    return found.at.cut if found.advice.threshold is None else found.advice.threshold


def _about(found: Evaluation) -> str:
    """`about ` if the numbers are estimates from a sample."""
    return "about " if found.asked < found.arrivals else ""


def advice(found: Evaluation) -> str:
    """The threshold to set and the reason, or why no threshold is recommended."""
    bearable, least = percent(BEARABLE), threshold(LEAST)
    match found.advice.reason:
        case AdviceReason.FEW_DUPLICATES | AdviceReason.FEW_OTHERS:
            return _too_few(found)
        case AdviceReason.NOTHING_BEARABLE:
            return (
                f"Every threshold from {least} on catches no known duplicate, may comment on over {bearable} of the "
                "other issues, or is wrong more often than right: let the bot answer only when asked (mode: shadow)."
            )
        case AdviceReason.CATCHES:
            why = f"duplicates while surely commenting on at most {bearable} of the other issues"
    row = next(row for row in found.curve if row.cut == found.advice.threshold)
    text = f"Recommended is min_confidence: {row.cut:g}, since it catches the most {why}."
    if row.comments < _FEW_COMMENTS:
        text += f" It rests on {_about(found)}{counted(round(row.comments), 'comment')} in all, which is little."
    return text


def _too_few(found: Evaluation) -> str:
    """The numbers that are too low, each with the required number."""
    known = found.retrieval.queries
    lacking = [f"{counted(known, 'known duplicate')} ({FEW} are needed)"] if known < FEW else []
    if found.silent < OTHERS_NEEDED:
        unmarked = f"{counted(found.silent, 'issue')} that nobody marked"
        lacking.append(f"{unmarked} ({OTHERS_NEEDED} are needed to tell {percent(BEARABLE)} from none)")
    return f"Too few to say where the threshold should be: {' and '.join(lacking)}."


def unmarked(found: Evaluation) -> str:
    """Explains the list of the likeliest unmarked pairs; empty without such pairs."""
    if not found.unmarked:
        return ""
    if not found.retrieval.queries:
        return "These are the likeliest pairs. Read some to see how many comments would be right."
    return (
        "These are the likeliest pairs that nobody marked as duplicates. Read some: if both issues "
        "of a pair report the same thing, the comment is right, but the marks do not count it."
    )


def caution(found: Evaluation, *, of_file: bool = False) -> str:
    """A caution for every reader of the figures; `of_file` says whether a file was evaluated, not a repository."""
    if not found.retrieval.queries:
        how = "Mark a few duplicates in duplicate_of" if of_file else "Close a few duplicates by GitHub's own menu"
        return f"{how}, and evaluate again, to see how many the bot finds."
    text = (
        "Marks are incomplete: on five trackers readers found two to five times as many duplicates as were marked. So "
        "a comment that names no marked issue may still be right."
    )
    bounds = found.rr_intervals.get(5)
    if bounds and bounds[1] - bounds[0] > 0.2:
        text += f" With {counted(found.retrieval.queries, 'known duplicate')} every figure is a rough one."
    return text


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def threshold(cut: float) -> str:
    """A threshold as `.62`, in thousandths if needed; `–` above 1, which no probability reaches."""
    return "–" if cut > 1 else f"{cut:.3f}".removeprefix("0").removesuffix("0")


def percent(share: float | None) -> str:
    """A share as `22%`, with a decimal below 10%; `–` for None."""
    if share is None:
        return "–"
    digits = f"{share * 100:.0f}" if share >= 0.0995 else f"{share * 100:.1f}".removesuffix(".0")
    return f"{digits}%"


def interval(bounds: Interval | None) -> str:
    """An interval as `11–19%`; empty for None."""
    return f"{bounds[0] * 100:.0f}–{bounds[1] * 100:.0f}%" if bounds else ""


def a_month(number: float) -> str:
    """The comments in an average month; less than one comment in 20 months is `<0.1`."""
    return "<0.1" if 0 < number < 0.05 else f"{number:.1f}"


def _average(number: float, what: str) -> str:
    """An average number of things, with a decimal below ten."""
    shown = f"{number:,.0f}" if number >= 9.95 or number == round(number) else f"{number:.1f}"
    return f"{shown} {what}" if number == 1 else f"{shown} {what}s"
