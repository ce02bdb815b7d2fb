"""English words that decide whether a clause is stated; `assertions` applies them.

The patterns are for one sentence with single spaces and ASCII quotation marks, unless they say
that they are for a turn.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from graphmem.english import quantities
from graphmem.extraction import DismissalReason
from graphmem.rules import hygiene

ABBREVIATIONS = "".join(
    rf"(?<!\b{word}\.)" for word in ("Mr", "Mrs", "Ms", "Dr", "St", "vs", r"e\.g", r"i\.e", r"a\.m")
)
SENTENCE_END = re.compile(
    rf"(?<=[.!?…。！？؟]){ABBREVIATIONS}\s+|(?<=[.!?…][\"')\]])\s+"
    r"|\n[ \t\r]*\n\s*|\n[ \t]*(?=(?:[-*•]|\d{1,2}[.)])\s)"
)
"""End of a sentence. The end of a line is none: a sentence may continue after it."""
SUBJECT = (
    r"(?:I|we|my|our|you|your|he|she|it|they|there|this|that|his|her|their|the|maybe|perhaps)\b"
)
BREAK = re.compile(
    rf"[;\n–—]| --? |\b(?:but|because|although|though|whereas|while|which|who|yet)\b"
    rf"|\b(?:and|or|so|as|since|plus|when|where) (?={SUBJECT}|(?-i:[A-Z][a-z]+ [a-z]+s\b))"
    rf"|, ?(?={SUBJECT}|not\b|never\b)",
    re.I,
)
REST_END = re.compile(r";|, and\b|\b(?:but|because|so|and (?:I|my|we|it|if))\b", re.I)
WRAPPED = re.compile(rf"\n(?!{SUBJECT}|\|)", re.I)
RESET = re.compile(r";|\bbut\b", re.I)
"""After these words a sentence is no longer governed by how it began."""
# Atomic groups: before Python 3.11.5, possessive repeats of groups that can backtrack fail.
LEAD = re.compile(
    r"[\W_]*(?>(?:(?:well|oh|yes|no|yeah|ok|okay|hi|hello|hey|please|and|but|so|actually|honestly"
    r"|also|just|now|then|anyway)\b[\W_]*)*)",
    re.I,
)
THIRD = (
    r"(?:(?:my|the|his|her|our|your|a|some|most|many) )?(?!(?:I|that|being|having|to|can"
    r"|could|will|would|must|should|not|and|or|do|did|please|let|as)\b)[^\W\d_][\w'.-]*"
)
SAYS = (
    r"(?:sa(?:id|ys?)|t(?:old|ells)|claim(?:s|ed)?|th(?:inks|ought)|belie?ve[sd]?|reckons?"
    r"|insist(?:s|ed)?|swears?|swore|mention(?:s|ed)|writes?|wrote|post(?:s|ed)|announce[sd]"
    r"|argue[sd]|ask(?:s|ed)|repli(?:es|ed)|answered|shout(?:s|ed)|whisper(?:s|ed)|joke[sd]|lied"
    r"|den(?:ies|ied)|assume[sd]?|guess(?:es|ed)|suspect(?:s|ed)?|heard|suggest(?:s|ed)"
    r"|texted|e-?mailed|quote[sd]|sings?|sang|states?|stated|confessed|admit(?:s|ted)"
    r"|complain(?:s|ed)|explain(?:s|ed)|recall(?:s|ed)|remembers|knows|hopes|wants|wishes|boasts"
    r"|boasted|bragg?(?:s|ed)|predict(?:s|ed)|report(?:s|ed)|testified|rumou?red)"
)
TOLD = (
    r"\bI(?:'ve| have|'d| had)? (?:just |always |once )?(?:hear|heard|thought|assumed|lied|joked"
    r"|pretend(?:ed)?|(?:told|tell|convinced) (?!you\b)\w+|(?:read|was told|(?:have )?been told))\b"
)

POLITE = (
    r"(?! (?:you (?:ask|must|want to know|wonder|wondered|care|recall|remember|know)"
    r"|I (?:may|remember|recall|am honest)|I'm (?:honest|being)|you're (?:curious|interested"
    r"|wondering)|anyone|it helps|it matters|that (?:helps|matters)))"
)

WHOLE_TURN = re.compile(
    r"(?:^|[.!?:\n] ?)(?:(?:please|ok|okay|hi|hello|hey|can you|could you|would you|help me"
    r"|now)[, ]+)*"
    r"(?:let's (?:role-?play|pretend|play|imagine)|role-?play\b|act as|pretend(?= (?:to|that|you"
    r"|I))"
    r"|imagine\b|suppose\b|play (?:the|a) (?:role|part)|(?:answer|respond|talk|speak"
    r"|reply) (?:as|like) (?:an?|the|if)|from now on,? you|once upon a time|chapter \w+|scene\b"
    r"|you are (?:an?|my|the) \w+|you're an? \w+"
    r"|(?:write|draft|compose|make up|continue|create|generate|give)(?: me)? (?:an?|the|my|this"
    r"|some) "
    r"(?:\w+ ){0,2}(?:story|poem|song|dialog\w*|scene|letter|e-?mail|bio|post|essay|script"
    r"|monolog\w*"
    r"|example|sentence|tale|novel|lyrics|speech|text|message|paragraph|persona|tweet)\w*"
    r"|(?:short )?(?:story|poem|fiction|fan ?fiction|lyrics|script) ?:"
    r"|(?:here(?:'s| is| are)|this is|below is|see|read) (?:an? |the |my |his |her |some "
    r"|what )?(?:\w+ ){0,3}"
    r"(?:story|poem|novel|scene|dialog\w*|lyrics|song|script|text|mail|e-?mail|letter|message|log"
    r"|transcript|review|article|sample|example|sentences?|chapter|excerpt|quote)s?\b"
    r"|(?:translate|proofread|paraphrase|rephrase|reword|rewrite|summari[sz]e|spell-?check"
    r"|transcribe"
    r"|correct|fix|check|improve|polish|analy[sz]e|classify|repeat|parse)(?= ?:| ?\n"
    r"| (?:in)?to (?-i:[A-Z])"
    r"| (?:this|that|it|these|the)(?: following| next)?(?: (?:text|sentences?|phrase|words|line"
    r"|grammar|spelling|paragraph|message))?(?: ?[:\n.!?,]| (?:in|for|into|to|from)\b)"
    r"| (?:the|my) (?:following|grammar|spelling|next))"
    r"|(?:repeat|say|write|type) after me|how (?:do|would|can|should) (?:you|I|we|one) (?:say"
    r"|write|spell"
    r"|translate|pronounce))"
    r"|\bmy (?:\w+ )?(?:character|avatar|persona)\b|\b(?:had|have) (?:an?|this|the"
    r"|that) (?:\w+ )?(?:dream|nightmare)\b|\bin character\b",
    re.I,
)
"""Words after which the rest of a turn is fiction or a text to work on."""
TASK_BEFORE = re.compile(
    r"\b(?<!I )(?:translate|put|say|make|shorten|polish|rewrite|rephrase|paraphrase|proofread"
    r"|correct|summari[sz]e|turn)"
    r" (?:(?:the|this|that|these) (?:sentences?|text|phrase|line|words|paragraph)(?: above)?"
    r"|this|that|it|these|the above)(?= (?:in|into|to|for|from)\b|\W{0,8}$|\W?\n|,| please| more"
    r"| less| longer"
    r"| shorter| sound| formal)",
    re.I,
)
"""Words by which the text before them is one to work on."""
IRONY = re.compile(
    r"(?:^|\s)/s\b|\b(?:just kidding|kidding|jk|said (?:no one|nobody)|yeah,? right|as if!"
    r"|in your dreams|joking|lol not|just joking|sarcasm)\b|🙄|\(joke\)|\bNOT!",
    re.I,
)
IRONIC_OPENING = re.compile(
    r"\W{0,8}(?:oh,? )?(?:sure|right|yeah|of course|obviously|totally|because)(?:,? (?:sure|right"
    r"|because"
    r"|and)){1,5},? (?=I\b|my\b)|\W{0,8}as if (?=I\b)|\W{0,8}like (?=I (?:would|could|ever))",
    re.I,
)
TAKEN_BACK = re.compile(
    r"[\W_]{0,8}(?:(?:sorry|oops|whoops|wait|no|hang on|hold on|ah|er|erm|hmm|uh"
    r"|my mistake|my bad|well"
    r"|actually)\b[\W_]{0,8}){0,5}(?:I mean(?:t)?\b|scratch that|strike that|correction\b"
    r"|make (?:that"
    r"|it)\b"
    r"|(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:true|right|correct)|false|incorrect"
    r"|a (?:joke|lie"
    r"|typo|mistake)|an? (?:error|example|test))|that was (?:wrong|a lie)|not (?:really|true"
    r"|any ?more"
    r"|exactly|anymore)\b|just kidding|kidding|I(?:'m| was| am) (?:joking|kidding|lying|wrong)"
    r"|I lied"
    r"|I misspoke|typo\b|I wish\W{0,8}$|ignore that|forget (?:that|it)|never ?mind|not\W{0,8}$)"
    r"|[\W_]{0,8}(?:sorry|oops|whoops|wait|no wait|my mistake|actually,? no"
    r"|no,? actually)\b[,.! –-]{0,8}(?:no\b[, ]{0,4})?(?-i:[A-Z][\w'-]{1,40})\W{0,8}(?:$|[.!])"
    r"|[\W_]{0,8}(?:sorry|oops|whoops|wait|no)\b[\W_]{1,8}(?:not\b|no\b|it's\b)",
    re.I,
)
"""Words that take back the words just before them."""
TAKEN_BACK_INSIDE = re.compile(
    r"(?:,| [-–—]| \(|\.\.\.?|…) ?(?:(?:sorry|oops|whoops|wait|no|well)\b[, ]+(?:no\b|not\b"
    r"|sorry\b|wait\b"
    r"|I mean|I don't|I'm not|it's|(?-i:(?!I\b)[A-Z]\w*))|no wait|I mean(?:t)?\b|scratch that"
    r"|make that"
    r"|correction|not really|just kidding)\b",
    re.I,
)

NOT_WORDS = quantities.NEGATIONS - {
    *("stop", "stops", "stopped", "quit", "quits", "ceased", "instead", "except", "unless"),
    *("former", "formerly", "without", "longer"),
}
NOT = re.compile(rf"\b(?:{'|'.join(sorted(NOT_WORDS))}|cannot|nor|n'?t)\b|n't\b", re.I)
NOT_BEFORE = re.compile(
    r"\b(?:instead of|rather than|except(?: for)?|far from|anything but|nothing like|fail(?:ed"
    r"|s)? to"
    r"|refuse[sd]? to|den(?:y|ies|ied)|doubt(?:s|ed)?|hate the idea of|(?:it is|it's) (?:false"
    r"|untrue|a (?:lie|myth"
    r"|rumou?r))|other than|apart from|nearly (?=[a-z])|almost (?=(?!all|every|always|any"
    r"|everything)[a-z])"
    r"|too \w+ to)\b|\b(?:stop(?:s|ped)?|quit|left|leaving|sold|ceased|gave up|given up"
    r"|gave away|got rid of"
    r"|ran out of|lost|without)\b(?:\W+(?!and\b|for\b|to\b)\w+){0,5}\W{0,8}$",
    re.I,
)
NOT_AFTER = re.compile(r"\b(?:not|never|nowhere|no (?:longer|more))\b|n't\b", re.I)
AFTER_END = re.compile(
    r"[,(:]|\b(?:with|and|or|that|who|where|when|if|without|for|to|in|on|at|because|than)\b", re.I
)
NO_NEGATION = re.compile(
    r"^\W{0,8}no\b[,.!:–-]*\s+(?=I\b|my\b|we\b|it\b|actually)|\bnot (?:only|just|to mention)\b"
    r"|\bno (?:doubt|wonder|problem|worries|matter|joke)\b|\bdo(?:n't| not) (?:worry|forget|you)\b"
    r"|\bnothing but\b|\b(?:can't|cannot|couldn't) (?:live without|get enough of|do without"
    r"|help but"
    r"|imagine life without|function without)\b|\bnever (?:stop\w*|fail\w*|tire\w*|get tired of)\b"
    r"|\bcan't (?:wait|complain)\b|\bcouldn't be happier\b|\bwhy not\b|\bnot (?:so )?long ago\b",
    re.I,
)
"""Words that negate nothing, although they look like it."""

INVERTED = re.compile(
    r"(?:(?:do|does|did|am|is|are|was|were|have|has|had|can|could|will|would|should|shall|may"
    r"|might)(?:n't)?"
    r" (?:I|we|you|he|she|they|my|our|the|there)|(?:where|what|who|whom|whose|how|when|why"
    r"|which)(?:'s)?"
    r" (?!I\b|we\b|matters|counts)\w+|wasn't|isn't|aren't|don't I)\b",
    re.I,
)
TAG = re.compile(
    r"\b(?:(?:do|does|did|am|is|are|was|were|have|has|had|can|could|will|would|should)n't (?:I"
    r"|it|he|she|we"
    r"|they|that)|(?:am|are|is|was) (?:I|it|he|she) not|right|no|yes|correct|eh|huh|true|or not"
    r"|or what"
    r"|innit|is(?:n't)? (?:that|this|it) (?:right|so|true|correct|wrong|ok)|or (?:is|am|do"
    r"|did) .{0,20})\W{0,8}$",
    re.I,
)
INDEPENDENT = re.compile(
    r"(?:[,;–—\n]| -|\b(?:and|but|so)) ?(?:and |but |so )?(?:(?:what|where|who|how|which|when"
    r"|why|any)\b"
    r"|(?:can|could|do|does|did|is|are|would|will|should|have|has|may|got)(?:n't)? (?:you|there"
    r"|we|anyone"
    r"|someone|I get|I find|I \w+|it|that|this)\b)",
    re.I,
)

PAST_TENSE = re.compile(
    r"(?<!have )(?<!has )(?<!'ve )(?<!'s )(?<!always )(?<!never )(?<!just )\b([a-z]{2,20}?)(?:ed"
    r"|d)\b",
    re.I,
)
FIRST = re.compile(r"\b(?:I|me|my|mine|myself|we|our|us)\b", re.I)
PRONOUN = re.compile(r"\b(I|we|you|he|she|they|who)\b", re.I)
OTHER_NOUN = re.compile(
    r"\W{0,8}(?:(?:my|our|his|her|their|your|the|an?|this|that|every|each|some|most|many|all"
    r"|no) [\w'-]{1,40}(?: [\w'-]{1,40}){0,3}"
    r"|(?:every|any|no|some)(?:one|body)|people|(?-i:[A-Z][\w'-]{1,40}(?:"
    r"(?: and)? [A-Z][\w'-]{1,40}){0,6}))"
    r"(?: (?:also|always|really|just|still|now|only|often|usually))?\s{0,8}$",
    re.I,
)
"""A subject that is not the speaker, and nothing after it."""
COPULA = re.compile(r"\W{0,4}(?:am|is|are|was|were|be|'s|[A-Z\d])", re.ASCII)
RELATIVE = re.compile(r"\b(?:who|which)\W{0,2}$", re.I)
HELPED = re.compile(
    r" (?:has|have|had|is|are|was|were)(?: (?:always|been|just|now"
    r"|recently))? ?$",
    re.I,
)
PARTICIPLE = re.compile(r"\b\w{1,40}(?:ed|ing|en|wn)\b|been\b|gone\b")
COMMAND = re.compile(
    r"(?:live|work|move|go|come|stay|speak|be|become|join|try|use|learn|visit"
    r"|enjoy) (?!in progress)\w",
    re.I,
)
LEAD_IN = re.compile(r"(?:^|(?<=[\n.!?]))(?:[^\n.!?:]|:(?!\s)){1,120}:(?=\s)")
SPEECH = re.compile(r"[\s\"'*_>-]{0,8}(?:I|my|we|our)\b", re.I)

HEADER = re.compile(r"\W{0,8}(?:dear|subject|fwd?|re|from|to|cc)\b", re.I)
NAMED_LINE = re.compile(
    r"\W{0,8}(?:@[\w'-]{1,40}|[A-Z][\w'-]{0,40}(?: [A-Z][\w'-]{0,40})?)"
    r"(?: \([^)\n]{1,40}\))?\W{1,3}",
    re.ASCII,
)

PASTED = re.compile(
    rf"{hygiene.FENCE}.*?(?:{hygiene.FENCE.replace('<', '</')}|\Z)|```.*?(?:```|\Z)|~~~.*?(?:~~~"
    r"|\Z)"
    r"|(?P<inner>(?<![\w\"])\"[^\"\n]{1,2000}\"(?!\w)"
    r"|(?<![\w'])'(?=[A-Z])[^\n']{1,200}(?:'(?=\w)[^\n']{1,200}){0,3}'(?!\w)"
    r"|`[^`\n]{1,400}`)"
    r"|(?:^|(?<=\n))[ \t]*(?:>|\||\[[^\]\n]{1,40}\] ?\S|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\d{1,2}:\d\d(?::\d\d)?[ \t]+\S"
    r"|(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|FATAL)\b|(?://|#|--) )[^\n]*"
    r"|(?:^|(?<=\n))[ \t]*(?:From|To|Subject|Cc|Sent|Fwd?|Re|Begin forwarded message"
    r"|On [^\n]{4,80} wrote):.*\Z"
    r"|(?<!-)-{3,60} ?(?:Original|Forwarded).*\Z|(?:^|(?<=\n))[ \t]*Dear [^\n]{1,40}\n.*\Z"
    r"|<(?P<tag>\w{1,40})>.*?(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
"""Text that the speaker did not write here: code, quotations, mails and logs."""
OPENING = re.compile(
    r"(?>(?:(?:well|so|oh|yes|yeah|yep|okay|ok|hi|hello|hey|anyway|by the way|btw|also|actually|and"
    r"|but|no"
    r"|to be honest|honestly|you know|as you know|as I said|like I (?:said|told you)"
    r"|for the record|fun fact|fyi|update|these days|nowadays"
    r"|right now|at the moment|currently|personally|in fact|good (?:morning|evening|afternoon"
    r"|day)|sure"
    r"|thanks|thank you|there|everyone|all|now|about me|no worries"
    r"|no problem)\b[,!:]?[ \n]?(?:[-–—] )?)*)",
    re.I,
)
"""Words before the subject of a sentence, which the rules skip."""


class Marker(NamedTuple):
    """Words that show that a clause is not stated."""

    reason: DismissalReason
    governs: re.Pattern[str] | None = None
    """Words that govern the rest of their sentence, until "but"."""
    inside: re.Pattern[str] | None = None
    """Words before the quoted thing in its own clause."""
    follows: re.Pattern[str] | None = None
    """Words after it in its own clause, and before the next "but", "so" or "because"."""
    expressed: re.Pattern[str] | None = None
    """Further words by which a proposal itself expresses it."""


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.I)


MARKERS = (
    Marker(
        DismissalReason.QUESTION,
        governs=_any(
            r"whether|(?:wonder(?:ing|s|ed)?|ask(?:ed|ing|s)?(?: \w+)?|tell me|remember|know"
            r"|(?:not|un)sure|no idea|guess) (?:if|where|what|who|how|when|why|which)"
        ),
        expressed=_any(r"ask\w*|wonder\w*|question|unsure|wants? to know"),
    ),
    Marker(
        DismissalReason.CONDITION,
        governs=re.compile(
            rf"\b(?:(?<!as )if{POLITE}|unless|suppos(?:e|ing)(?! to)|assum(?:e|ing)|provided"
            r"|in case"
            r"|as long as|in the event|on condition|were I|had I|should I|once I|otherwise"
            r"|when(?:ever)? (?:I(?:'m| am)? (?:retire|grow|finish|graduate|win|become|rich|old"
            r"|older|done)|we (?:retire|win)|I get (?:rich|old|a|the|my)))\b",
            re.I,
        ),
        follows=re.compile(
            rf"\b(?:(?<!as )(?<!even )if{POLITE}|unless|provided|assuming|depending on"
            r"|as long as|in case"
            r"|whenever|only when)\b",
            re.I,
        ),
        expressed=_any(r"condition\w*|would|could|might|depend\w*"),
    ),
    Marker(
        DismissalReason.REPORT,
        governs=re.compile(
            rf"\b{THIRD},? (?:(?:just|also|always|once|has|have|had|never) )?{SAYS}\b"
            rf"|{TOLD}|\b(?:tell|inform|convince|write to|show) (?:them|him|her|people|everyone"
            r"|(?:the|my|his|her|our) \w+|(?-i:[A-Z]\w+))(?= |:|,)"
            r"|\b(?:according to|apparently|allegedly|supposedly|reportedly|rumou?r"
            r"|word (?:is|has it)|legend has|it is said|it's said|hearsay|gossip|they say"
            r"|people say|as per)\b",
            re.I,
        ),
        follows=re.compile(
            rf"\b(?:apparently|allegedly|supposedly|reportedly|or so|according to|I (?:hear"
            rf"|heard|read|was told))\b|,[\"'\s]*(?:{THIRD} {SAYS}"
            rf"|{SAYS} (?!you\b|I\b)\w+)"
            r"(?=\W{0,8}$|,| (?:me|us|him|her|yesterday|once|in|to|on)\b)",
            re.I,
        ),
        expressed=_any(rf"according|{SAYS}|say"),
    ),
    Marker(
        DismissalReason.PAST,
        inside=re.compile(
            r"\b(?:used to|formerly|previously|in the past|back (?:then|when|in)|at one time"
            r"|growing up|once (?:lived|worked|had|owned|was|loved|liked|spoke|played|studied)"
            r"|as an? (?:\w+ )?(?:kid|child|teen\w*|boy|girl|student|toddler)|in my (?:youth"
            r"|childhood"
            r"|twenties|teens)|in those days|(?:I|we) (?:was|were|had been) (?:still "
            r"|then )?(?!born|raised"
            r"|hired|promoted|diagnosed)(?:\w+ing|based|allergic|married|engaged|employed|into"
            r"|fond|an?|the)|(?:(?:my|the|our|an?|his|her) )(?:former|ex|old|previous|last)"
            r"(?= (?:job|employer|company|home|house|flat|address|city|town|car|boss|number|name"
            r"|e-?mail|phone|hobby)))\b",
            re.I,
        ),
        follows=re.compile(
            r"\b(?:as an? (?:\w+ )?(?:kid|child|teen\w*|boy|girl|student|toddler)|when I was"
            r"|back then"
            r"|back in|in the past|at (?:the|that) time|in those days|in my (?:youth|childhood"
            r"|twenties|teens)|before (?:I|we|the|moving|that)|(?:until|till) (?:last|recently|I\b"
            r"|we\b|yesterday|a few))\b",
            re.I,
        ),
        expressed=_any(
            r"used|former\w*|previous\w*|past|was|were|had|once|ex|until|born|childhood"
        ),
    ),
    Marker(
        DismissalReason.PLAN,
        governs=_any(
            r"I(?:'ve)? (?:wish|hope|dream(?:ed|t)? of|pray)|if only|hope(?:fully)?|hoping"
            r"|my (?:\w+ )?(?:dream|goal|plan|wish|hope|ambition|aim|intention) (?:is|was"
            r"|would be|to)"
            r"|remind me to|let's|maybe|perhaps|possibly|probably|who knows"
            r"|I'm not (?:so )?(?:sure|certain)"
        ),
        inside=re.compile(
            r"\b(?:want(?:s|ed|ing)? (?:to|an?|the|my)|wanna|wish(?:es|ed|ing)?|would(?! say)|could"
            r"|might|should|gonna|(?:am|is|are|'m|'s|'re|was|were) (?:going|about|hoping|planning"
            r"|looking|trying|tempted|supposed|due|set|thinking|dreaming|considering|aiming"
            r"|applying|saving|interested)(?= (?:to|of|about|for|up|a|the|in|moving|getting"
            r"|buying))"
            r"|plan(?:s|ned|ning)? (?:to|on)|intend(?:s|ed)? to|hop(?:e|es|ed|ing) (?:to|for)"
            r"|consider(?:s|ed|ing)?|think(?:ing)? (?:of|about)|dream(?:s|ing)? (?:of|about)"
            r"|aim(?:s|ing)? to|decided to|tempted to|ought to|need(?:s|ed)? to|try(?:ing)? to"
            r"|tried to|appl(?:y|ied|ying) (?:to|for|at)|interview(?:ed|ing)? (?:at|with|for)"
            r"|offer(?:ed)? (?:from|by)|rather|like to|love to|prefer to|fancy"
            r"|long(?:ing)? (?:to|for)"
            r"|someday|one day|tomorrow|(?<!until )(?<!till )next (?:week|month|year|spring"
            r"|summer|autumn|fall|winter)"
            r"|(?-i:will(?!\w)|may(?= (?:\w+ )?[a-z]{2,})(?<!since may)(?<!in may)(?<!last may)))\b"
            r"|\b(?:I|you|he|she|it|we|they|there)'(?:ll|d(?! (?:\w+ )?(?:been|moved|lived"
            r"|worked)))\b",
            re.I,
        ),
        follows=_any(
            r"someday|some day|one day|tomorrow|(?<!until )(?<!till )next (?:week|month|year"
            r"|spring|summer|autumn|fall"
            r"|winter|\w+day)|soon|eventually|in the future|hopefully|maybe|perhaps|possibly"
            r"|probably"
            r"|I (?:hope|wish|guess|suppose)|or (?:maybe|not|something|somewhere)"
        ),
        expressed=_any(
            r"wants?|wish\w*|plan\w*|hop(?:e|es|ing)|dream\w*|intend\w*|goals?|aims?|future|need\w*"
            r"|desire\w*|interest\w*|look\w*|consider\w*|try\w*|prefer\w*|may|will|next|appl\w+"
            r"|offer"
            r"|decid\w+|suppos\w+|remind\w*"
        ),
    ),
    Marker(
        DismissalReason.FICTION,
        governs=re.compile(
            r"\bin (?:my|a|an|the|this|that|his|her|our) (?:\w+ )?(?:dreams?|nightmares?|story"
            r"|novel"
            r"|game|movie|film|book|play|fantasy|screenplay|script|simulation|poem|song|role-?play"
            r"|campaign|scene|tale|saga|comic|series|show|sketch|world|universe|head|imagination"
            r"|daydreams?)(?=,| (?:I|my|we|he|she|they|there|it)\b| last night)"
            r"|\bin (?:another life|an alternate \w+|a past life|a parallel \w+|Minecraft|Skyrim)\b"
            r"|\b(?:dream(?:t|ed)|imagined|fantasi[sz]ed?|daydream(?:s|ed|ing)?)\b"
            r"|\b(?:imagine|pretend(?:ing)?|let's say|say|answer|write|reply|repeat|(?:let"
            r"|make) \w+ (?:think|believe)) (?:that |if )?(?:I|we|you|my)\b"
            r"|\b(?:my|the|this|our|her|his) (?:\w+ )?(?:character|avatar|narrator|hero|heroine"
            r"|protagonist|persona|villain)\b|\b(?:for example|for instance|e\.g\.|hypothetically"
            r"|theoretically|fictional\w*|as a joke|jokingly|sarcastic\w*|ironic\w*)",
            re.I,
        ),
        follows=re.compile(
            r"\bin (?:my|a|the|this|that) (?:\w+ )?(?:dreams?|nightmares?|story|novel|game|movie"
            r"|film"
            r"|book|play|fantasy|simulation|poem|song|role-?play|campaign|scene|imagination)"
            r"(?=\W{0,8}$| last)|\b(?:in another life|in character|for example|hypothetically"
            r"|is (?:what|how) (?:she|he|they|it|the)\b|is an? (?:\w+ )?(?:sentence|phrase|line"
            r"|lie|joke"
            r"|quote|lyric|title|example|saying|motto)|is (?:her|his|its|the|their) "
            r"(?:line|motto|slogan|catchphrase|password|name|lyric\w*|title)\b|not!?\W{0,8}$)",
            re.I,
        ),
        expressed=_any(
            r"dream\w*|imagin\w*|pretend\w*|fiction\w*|role|game|novel|story|characters?|example"
            r"|joke"
        ),
    ),
)
"""Markers in the order in which they are reported."""


SAYS_NOT = _any(
    r"not|never|no|none|n't|isn't|doesn't|don't|didn't|without|former\w*|ex|no longer|nobody"
    r"|hardly|rarely"
    r"|left|ended|lost|sold|quits?|quitting|stop\w*|free|anti|non|un\w+able|gave up|cannot|can't"
    r"|almost|nearly|den\w+"
)
SAYS_NOT_BY_VERB = _any(
    r"dislike\w*|hate[sd]?|avoid\w*|lack\w*|refuse\w*|reject\w*|detest\w*|oppose\w*"
)


OF_A_TEXT = _any(
    r"(?:counter)?examples?|e\.g|for instance|samples?|sentences?|phrases?|text|quotes?"
    r"|quot(?:ing|ation)|translat\w+"
    r"|proofread\w*|correct(?:ed|ing|ly)?|rephras\w+|paraphras\w+|rewrit\w+|summar\w+|prompts?"
    r"|logs?|e-?mails?|mails?"
    r"|messages?|letters?|forward\w*|dialog\w*|scripts?|scenes?|characters?|stor(?:y|ies)|poems?"
    r"|songs?|lyrics"
    r"|titles?|headlines?|tests?|inputs?|outputs?|said|says|wrote|writes?|tweet\w*|posts?|posted"
    r"|reviews?"
    r"|transcripts?|speech|captions?|signs?|templates?|exercises?|grammar|spelling|means?"
    r"|meaning|pronounce"
    r"|say|reads?|repeat|type|respond|lines?|told|tells|asked|replied|translation"
    r"|sent|shared|pasted|his|her|their|german|french|spanish|english|italian|portuguese|dutch"
    r"|chorus|verse|slogan|motto|placeholder|dummy|fixture"
)
OF_THE_SPEAKER = _any(
    r"me|myself|facts?|updates?|news|notes?|fyi|ps|p\.s|background|context|situation|edit"
    r"|intro\w*|infos?"
    r"|information|remind\w*|answer|status|short|brief|question|thing|reason|details?|profile"
    r"|bio|btw|correction"
    r"|summary|user|heads up|disclaimer|confession|all|everyone|team|folks|guys|tl;?dr|today"
    r"|setup|so far|hello|hi"
)
