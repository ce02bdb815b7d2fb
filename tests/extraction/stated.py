"""Turns that state a fact, and turns whose words name one without stating it.

A line is a predicate and a template of a turn. `⟦…⟧` is the part that a model quotes, `‹…›` the
object, `{one|other}` a choice, `¶` a new line. "not" before the predicate refutes, and a name after
it is the subject. Half of the turns are for tuning the rules; the other half only measures them.
"""

# ruff: noqa: E501 - a line is a turn.

from __future__ import annotations

import re
from typing import NamedTuple

from tests.rules.credentials import half, spelled

STATED = """
lives_in: ⟦I live in ‹{Lisbon|New York|the Netherlands|東京|Lund|Trento}›⟧.
lives_in: {Well, |By the way, |Yes, |Hi! |For the record, |No, }⟦I live in ‹{Oslo|Turin|Lund|Trento}›⟧.
lives_in: ⟦I'm {living|based} in ‹{Quito|San Marino|Lund|Trento}›⟧ now.
lives_in: ⟦I live in ‹{Lisbon|Graz|Lund|Trento}›⟧ until {June|next summer|2031}.
lives_in: ⟦I live in ‹{Bergen|Leeds|Lund|Trento}›⟧ with {my cat|Anna} because of {work|the sea}.
lives_in: ⟦I moved to ‹{Porto|Kyoto|Lund|Trento}› {last month|in 2021|two years ago|in May 2023}⟧.
lives_in: ⟦I've just moved to ‹{Seville|Bath|Lund|Trento}›⟧, and I {love|hate} it.
lives_in: I don't {drive|like the heat}, but ⟦I live in ‹{Vienna|Perth|Lund|Trento}›⟧.
lives_in: ⟦I live in ‹{Lyon|Cork|Lund|Trento}›⟧, and I don't {drive|own a car}.
lives_in: ⟦I live in ‹{Faro|Nantes|Lund|Trento}›⟧, so {tell me if you visit|I never ski}.
lives_in: ⟦I live in ‹{Faro|Nantes|Lund|Trento}›⟧. Do you {know it|like it}?
lives_in: ⟦I live in ‹{Gdansk|Brno|Lund|Trento}›⟧, {any tips for parks?|what about you?|can you find me a dentist?}
lives_in: Can you {find a gym|plan a walk} for me? ⟦I live in ‹{Delft|Basel|Lund|Trento}›⟧.
lives_in: What is the weather like? ⟦I live in ‹{Utrecht|Sintra|Lund|Trento}›⟧ and work {nearby|downtown}.
lives_in: Thanks for the help! ⟦I live in ‹{Malaga|Zadar|Lund|Trento}›⟧ these days.
lives_in: Hello¶⟦I live in ‹{Riga|Tartu|Lund|Trento}›⟧¶I work at Zeta
lives_in: {Actually|Fun fact|Update|About me}: ⟦I live in ‹{Rome|Minsk|Lund|Trento}›⟧.
lives_in: If you must know, ⟦I live in ‹{Hull|Ghent|Lund|Trento}›⟧.
lives_in: ⟦My home is in ‹{Lucca|Siena|Lund|Trento}›⟧, near the station.
lives_in: ⟦We live in ‹{Izmir|Sofia|Lund|Trento}›⟧ since the war.
lives_in: ⟦I live in ‹{Faro|Perth|Lund|Trento}›⟧, {close to the river|next to the station|above a bakery|a town by the sea|Portugal|New South Wales}.
works_at: ⟦I work at ‹{Acme|Fabrikam|Tefal}›⟧, {the oil company|a small firm|opposite the school}.
lives_in/Anna: ⟦Anna lives in ‹{Rome|Bonn|Lund|Trento}›⟧.
lives_in/Paul: My brother ⟦Paul lives in ‹{Kent|Pisa|Lund|Trento}›⟧ with his dog.
lives_in: I can't complain, ⟦I live in ‹{Nice|Bari|Lund|Trento}›⟧.
works_at: ⟦I work at ‹{Acme|Initech|Stark Industries|Fabrikam|Tefal}›⟧.
works_at: ⟦I work for ‹{Globex|Hooli|Fabrikam|Tefal}›⟧ {remotely|part-time|since March|on Mondays}.
works_at: Since you ask, ⟦I work at ‹{Umbrella|Wayne|Fabrikam|Tefal}›⟧.
works_at: {Honestly|To be honest|Sorry for the delay}, ⟦I work at ‹{Tyrell|Soylent|Fabrikam|Tefal}›⟧.
works_at: ⟦I work at ‹a {bank|small bakery|hospital}›⟧.
works_at: ⟦I'm working for ‹{Massive Dynamic|Vandelay|Fabrikam|Tefal}›⟧ at the moment.
works_at/Ben: Good news: ⟦Ben works at ‹{Acme|Globex|Fabrikam|Tefal}›⟧ now.
works_at: No worries, ⟦I work at ‹{Cyberdyne|Oscorp|Fabrikam|Tefal}›⟧ and start late.
works_at: I think {we met|it rained}, because ⟦I work at ‹{Acme|Dunder|Fabrikam|Tefal}›⟧.
works_as: ⟦I work as ‹a {nurse|pilot|tax adviser}›⟧.
works_as: ⟦I work as ‹an electrician›⟧ {in Leeds|with my uncle}.
job: ⟦My job is ‹{a baker|a roofer}›⟧, not {a hobby|a calling}.
works_on: ⟦I'm working on ‹{Borealis|Project Heron}›⟧.
works_on: ⟦I work on ‹{Kestrel|Apollo}›⟧ with {Maria|two others}.
likes: ⟦I {like|love|enjoy} ‹{green tea|chess|sailing|old maps|sherry|puzzles}›⟧.
likes: ⟦I really love ‹{jazz|figs|sherry|puzzles}›⟧, {you know|by the way}.
likes: I don't like {coffee|beer}, ⟦I like ‹{tea|cider|sherry|puzzles}›⟧.
likes: ⟦I like ‹{tea|rye bread|sherry|puzzles}›⟧, not {coffee|toast}.
likes: ⟦I like ‹{plums|quiz nights|sherry|puzzles}›⟧ but {my wife doesn't|nobody else does}.
likes: Not only {that|him}: ⟦I love ‹{opera|dogs|sherry|puzzles}›⟧.
likes: ⟦I enjoy ‹{climbing|walking in the rain|sherry|puzzles}›⟧ because it calms me.
likes/Caroline: ⟦Caroline loves ‹{pottery|hiking|sherry|puzzles}›⟧.
not likes: ⟦I don't like ‹{coffee|olives|loud bars|sherry|puzzles}›⟧.
not likes: ⟦I do not enjoy ‹{golf|flying|sherry|puzzles}›⟧ {at all|any more}.
not likes: ⟦I never liked ‹{ouzo|karaoke|sherry|puzzles}›⟧.
not lives_in: ⟦I no longer live in ‹{Lisbon|Split|Lund|Trento}›⟧.
not lives_in: ⟦I don't live in ‹{Madrid|Metz|Lund|Trento}›⟧ any more.
not lives_in: ⟦I used to live in ‹{Madrid|Ulm|Lund|Trento}›⟧.
not works_at: ⟦I don't work at ‹{Acme|Globex|Fabrikam|Tefal}›⟧ any more.
not works_at: ⟦I quit my job at ‹{Initech|Hooli|Fabrikam|Tefal}›⟧ {yesterday|last week}.
dislikes: ⟦I {hate|dislike} ‹{early meetings|mushrooms}›⟧.
dislikes: ⟦I don't like ‹{rice pudding|queues}›⟧.
prefers: ⟦I prefer ‹{window seats|short mails|paper books}›⟧.
prefers: If you ask me, ⟦I prefer ‹{trains|dark mode}›⟧.
speaks: ⟦I speak ‹{Portuguese|Welsh|Swahili}›⟧.
speaks: ⟦I also speak ‹{Dutch|Thai}›⟧ {with my mother|because of school}.
allergic_to: ⟦I'm allergic to ‹{peanuts|bee stings}›⟧.
allergic_to: Please remember: ⟦I am allergic to ‹{latex|shellfish}›⟧!
name: ⟦My name is ‹{Alice|Bo Chen}›⟧.
name: Hi, ⟦my name is ‹{Olga|Sam}›⟧ and I {run a shop|need help}.
sister: ⟦My sister is ‹{Anna|Mia}›⟧.
favourite_colour: ⟦My favourite colour is ‹{blue|dark green}›⟧.
favourite_film: ⟦My favourite film is ‹{Alien|Brazil}›⟧.
hometown: ⟦My hometown is ‹{Split|Derby}›⟧.
phone_number: ⟦My phone number is ‹{5551234|0208999}›⟧.
wants: ⟦I want ‹a {dog|kayak}›⟧.
plans_to: ⟦I plan to ‹move to {Berlin|Malta}›⟧ next year.
plans_to: ⟦I'm going to ‹learn {Greek|the cello}›⟧.
wishes_for: ⟦I wish I had ‹a {garden|balcony}›⟧.
hopes_to: ⟦I hope to ‹visit {Japan|Peru}›⟧ one day.
used_to_play: ⟦I used to play ‹{tennis|the flute}›⟧.
born_in: ⟦I was born in ‹{Cardiff|Lima}›⟧.
visited: ⟦We visited ‹{Prague|Crete}›⟧ last summer.
owns: ⟦I bought ‹a {Volvo|canoe}›⟧ yesterday, and I can't wait to use it.
married_to: ⟦I married ‹{Lena|Tom}›⟧ in 2019.
plays: I can't sing, but ⟦I play ‹{cello|harp}›⟧.
said/Paul: ⟦Paul said ‹he is {ill|late}›⟧.
dreamt_of: ⟦I dreamt of ‹a {whale|burning tree}›⟧.
has: My neighbour is loud, though ⟦I have ‹a {quiet|sunny} flat›⟧.
drinks: When I wake up ⟦I drink ‹{coffee|water}›⟧.
reads: I can't imagine a day without books; ⟦I read ‹{crime novels|poetry}›⟧.
studies: ⟦I study ‹{law|botany}›⟧ at {Leiden|Bologna}, which isn't easy.
budget: ⟦Our budget is ‹{150,000|9000} euros›⟧.
owner/Kestrel: ⟦The owner of Kestrel is ‹{Dana|Ravi}›⟧.
runs/web-07: ⟦web-07 runs ‹{Debian 12|nginx}›⟧.
lives_in: I moved a lot. I was a nurse in Bristol. ⟦Now I live in ‹{Exeter|Poole|Lund|Trento}›⟧.
lives_in: My boss told me a joke. Anyway, ⟦I live in ‹{Trieste|Ravenna|Lund|Trento}›⟧.
lives_in: I had a bad day. ⟦I live in ‹{Torun|Evora|Lund|Trento}›⟧, and the tram was late.
works_at: I write stories at night, and ⟦I work at ‹{Acme|Pfizer|Fabrikam|Tefal}›⟧ by day.
works_at: ⟦I work at ‹{Acme|Nokia|Fabrikam|Tefal}›⟧. It is a game company.
likes: ⟦I love ‹{Hamlet|Dune|sherry|puzzles}›⟧; it is a great {play|film}.
lives_in: {Good evening|Morning|Hey there}! ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧ and {need a plumber|would like a dog}.
lives_in: {As I said|Like I told you|As you know}, ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧.
lives_in: ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧, not in {Rome|the centre}.
lives_in: ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧ for now, {but it rains a lot|and my sister lives next door}.
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento}›⟧ - {it's lovely|the rent is mad}.
lives_in: I {wanted|was going} to stay in Oslo, but now ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧.
lives_in: She asked where everybody is from. ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧.
lives_in: {No need to hurry|Don't worry}. ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento}›⟧, {ten minutes away|near the port}.
works_at: ⟦I work at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal}›⟧ as a {nurse|clerk}{| since 2019}.
works_at: ⟦I work for ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal}›⟧, {which isn't easy|where nobody smokes|if that helps}.
works_at: ⟦I started working at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal}›⟧ {last May|in 2020}.
works_at/Mia: {Could you help Mia|Do you know Mia}? ⟦Mia works at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal}›⟧.
works_at: What can I cook tonight? Also, ⟦I work at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal}›⟧.
likes: ⟦I love ‹{ramen|rowing|brass bands|sherry|puzzles}›⟧, {don't you|what about you|do you}?
likes: {Nothing against cats, but|Yes and|So} ⟦I like ‹{ramen|rowing|brass bands|sherry|puzzles}›⟧.
likes: ⟦I {still|also|really} enjoy ‹{ramen|rowing|brass bands|sherry|puzzles}›⟧.
likes: ⟦I like ‹{ramen|rowing|brass bands|sherry|puzzles}›⟧. {It isn't cheap|I don't know why|My mother hates it}.
not likes: ⟦I don't like ‹{ramen|rowing|brass bands|sherry|puzzles}›⟧, {sorry|to be honest|so please none}.
not likes: ⟦I can't stand ‹{ramen|rowing|brass bands|sherry|puzzles}›⟧.
dislikes: ⟦I hate ‹{ramen|rowing|brass bands}›⟧ {because of my father|and he knows it}.
prefers: ⟦I prefer ‹{night trains|oat milk|aisle seats}›⟧, {always have|thanks}.
speaks: ⟦I speak ‹{Basque|Farsi|Polish}›⟧ {at home|and some Greek|but not well}.
allergic_to: ⟦I'm allergic to ‹{pollen|cats|penicillin}›⟧, {so no flowers please|which is a pain}.
name: {Hello|Good day}, ⟦my name is ‹{Vera|Ilya|Noor Khan}›⟧. {Can you help me?|I want to book a table.}
name: ⟦My name is ‹{Vera|Ilya|Noor Khan}›⟧, {but call me V|not Anna}.
dog: ⟦My dog is ‹{Rex|Bella}›⟧.
wants: ⟦I'd like to ‹{learn to sail|sell my bike}›⟧ {one day|this summer}.
needs: I need ⟦a ‹{new passport|dentist}›⟧ soon.
not wants: I don't ⟦want ‹{children|a promotion}›⟧.
avoids: ⟦I never eat ‹{gluten|shrimps}›⟧.
diagnosed_with: ⟦I was diagnosed with ‹{asthma|gout}›⟧ in {2018|May}.
has: ⟦I have ‹two {sons|parrots}›⟧, and if it rains they {sing|fight}.
visited: In 2019 ⟦I went to ‹{Nepal|Ghana}›⟧ and {loved it|never wanted to leave}.
manager: ⟦My manager is ‹{Ruth|Kofi}›⟧; she said I could ask you.
plays: ⟦I play ‹{bass|padel}›⟧ every {Monday|week} even if it snows.
owns: ⟦I own ‹a {Fiat|barge}›⟧, a "{little wreck|grey lady}" as my son calls it.
"""

DENIED = """
not lives_in: I {don't|do not} ⟦live in ‹{Lisbon|Oslo|Turin|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: I {never|no longer} ⟦lived in ‹{Quito|Bath|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: It is not true that ⟦I live in ‹{Porto|Graz|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: I don't think ⟦I live in ‹{Lyon|Cork|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: Nobody who knows me says ⟦I live in ‹{Ulm|Metz|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: ‹{Rome|Leeds|Lund|Trento|Quebec|Utrecht}› is not ⟦where I live⟧.
not likes: I {don't|do not} ⟦like ‹{tea|jazz|olives|sherry|puzzles|pasta|museums}›⟧.
not likes: I don't really ⟦like ‹{beer|golf|sherry|puzzles|pasta|museums}›⟧ {at all|much}.
not likes: I {can't say I|hardly|rarely} ⟦like ‹{opera|karaoke|sherry|puzzles|pasta|museums}›⟧.
not likes: I have never been able to ⟦enjoy ‹{rugby|sushi|sherry|puzzles|pasta|museums}›⟧.
not works_at: I {don't|didn't} ⟦work {at|for} ‹{Acme|Globex|Fabrikam|Tefal|Siemens|Philips}›⟧.
not works_at: I {left|quit} ⟦my job at ‹{Hooli|Initech|Fabrikam|Tefal|Siemens|Philips}›⟧.
not works_at: I almost ⟦worked at ‹{Stark|Wayne|Fabrikam|Tefal|Siemens|Philips}›⟧.
not speaks: I speak Dutch but not ⟦‹{German|Welsh|Urdu|Latin|Czech}›⟧.
not speaks: I can't ⟦speak ‹{Thai|Greek|Urdu|Latin|Czech}›⟧, sadly.
not owns: I sold ⟦my ‹{Volvo|canoe|sled|cello}›⟧.
not allergic_to: I'm not ⟦allergic to ‹{peanuts|latex|eggs|soy}›⟧.
not married_to: We never ⟦married ‹{Lena|Tom|Eva|Igor}›⟧.
not likes: I {won't|didn't|wouldn't} ⟦like ‹{ramen|rowing|brass bands|sherry|puzzles|pasta|museums}›⟧.
not likes: Neither of us ⟦likes ‹{ramen|rowing|brass bands|sherry|puzzles|pasta|museums}›⟧.
not likes: I don't ⟦like tea, coffee or ‹{mate|cocoa|sherry|puzzles|pasta|museums}›⟧.
not likes: I like trams, not ⟦‹{buses|cabs|sherry|puzzles|pasta|museums}›⟧.
not likes: I like trams rather than ⟦‹{buses|cabs|sherry|puzzles|pasta|museums}›⟧.
not lives_in: {No way|There is no chance} ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: I doubt that ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento|Quebec|Utrecht}›⟧.
not lives_in: I do not, and never did, ⟦live in ‹{Padua|Arles|Visby|Lund|Trento|Quebec|Utrecht}›⟧.
not works_at: I refused to ⟦work at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal|Siemens|Philips}›⟧.
not works_at: I {stopped|gave up|ceased} ⟦working at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal|Siemens|Philips}›⟧.
not works_at: ⟦I work at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal|Siemens|Philips}›⟧ no {longer|more}.
not works_at: I ain't ⟦working at ‹{Zenith|Kodak|Contoso|Fabrikam|Tefal|Siemens|Philips}›⟧.
not has: I have no ⟦‹{children|siblings|car|pets|debts}›⟧.
not lives_in: I don't¶⟦live in ‹{Delft|Basel|Lund|Trento|Quebec|Utrecht}›⟧
"""

UNSTATED = """
lives_in: Am I right that ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento|Quebec|Utrecht}›⟧?
lives_in: ⟦I live in ‹{Padua|Arles|Visby|Lund|Trento|Quebec|Utrecht}›⟧, {isn't it|is that right|true|yes|or not}?
works_at: {Who says|Since when do|Can you check if|Is it true that} ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧?
works_at: {I have no idea if|Not sure whether|He asked if} ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
lives_in: {Even if|Only if|Provided} she comes along ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧ {as long as they let me|only if I must|provided I pass}.
lives_in: {Assuming|In case} I pass the exam, ⟦I move to ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {When I'm old|Once I retire|When we win the lottery}, ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
works_at: If she had asked me, ⟦I would work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧ now.
works_at: {In those days|Growing up|Ten years back, in the old days} ⟦I worked at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: ⟦I worked at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧ {before I had kids|when I was young|in the nineties|back then}.
works_at: My {former|previous|last} employer ⟦was ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
likes: I used to ⟦love ‹{ramen|rowing|sherry|puzzles|pasta|museums}›⟧ {as a boy|before the accident}.
works_at: {My neighbours|The press|Some people|HR|Your colleague} {claim|believe|reported|told me} ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: {It is said|I hear|Allegedly|Supposedly|The rumour is} that ⟦Mia works at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: ⟦Mia works at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧, {apparently|I heard|or so they say|according to Tom}.
works_at: {Mum|Dr. Hall|The mail} {says|writes|insists} that ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
lives_in: My {plan|goal|hope|wish} is to ⟦live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I {would rather|wanna|might one day|hope I can} ⟦live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Perhaps|Hopefully|Possibly|One day} ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I'm {tempted|about|planning|trying|hoping} to ⟦move to ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I move to ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧ {next month|tomorrow|soon, I hope}.
works_at: I have {an offer from|an interview at|applied at} ⟦‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
lives_in: {In the film|In my story|In my head|In a parallel universe}, ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I {dreamed|imagined|pretended} that ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Once upon a time|Chapter 3|Scene 2}: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Continue the story|Act as my double|Play the role of a spy|Roleplay time}! ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {My avatar speaks|The hero of my novel speaks|The narrator begins}: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Paraphrase|Rewrite|Spell-check|Classify|Shorten} the following text:¶⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {What's the Spanish for|What does this mean:|Is this correct English:} "⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧"?
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.¶¶{Say that in Dutch|Rewrite the above|Make this sentence longer}.
lives_in: {Test input|Lyrics|Quote of the day|The poem starts like this|e.g.}: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {His bio|Her status|The caption}: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧ {is a sentence with four words|is what she wrote|is how the song goes}.
works_at: Subject: {news|Fwd: hi}¶⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: {09:14 Tom|Tom (09:14)|@tom|*Tom*}: ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧
works_at: {ERROR|WARN|[info]} bot: ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧
works_at: 'Well, ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧,' he {said|answered}.
works_at: “⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧” was {the password|her answer|all he said}.
works_at: This is {what Ben sent|the mail from Ben|from his profile}:¶¶⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
likes: {Oh sure|Of course|Right}, because ⟦I love ‹{tax forms|stairs|sherry|puzzles|pasta|museums}›⟧.
likes: As if ⟦I like ‹{tax forms|stairs|sherry|puzzles|pasta|museums}›⟧.
likes: ⟦I love ‹{tax forms|stairs|sherry|puzzles|pasta|museums}›⟧... {not|NOT|said no one ever|in your dreams}.
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧. {Oops, no|Wait, I mean|Correction:|Actually no,} Braga.
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧, {no, sorry|I mean|wait, no}, Braga.
lives_in: ⟦I live in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧. {I was joking|That was a lie|Not really|Forget that|Ignore that}.
lives_in: {My aunt|The whole family|Jo} has ⟦lived in ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧ for years.
lives_in: {He|They|You|Who} ⟦moved to ‹{Padua|Arles|Lund|Trento|Quebec|Utrecht}›⟧ last year.
works_at: {My wife|Jo|Nobody|The neighbour} ⟦works for ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: {Go|Try to|Never} ⟦work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧!
works_at: {Answer that|Write that|Let them think} ⟦I work at ‹{Zenith|Kodak|Fabrikam|Tefal|Siemens|Philips}›⟧.
lives_in: Do ⟦I live in ‹{Madrid|Nice|Lund|Trento|Quebec|Utrecht}›⟧?
lives_in: Where do ⟦I live: ‹{Rome|Bari|Lund|Trento|Quebec|Utrecht}›⟧?
lives_in: ⟦I live in ‹{Porto|Faro|Lund|Trento|Quebec|Utrecht}›⟧, {don't I|right|no|correct}?
lives_in: ⟦I live in ‹{Hull|Kent|Lund|Trento|Quebec|Utrecht}›⟧?
lives_in: do ⟦I live in ‹{Riga|Tartu|Lund|Trento|Quebec|Utrecht}›⟧
lives_in: I wonder whether ⟦I live in ‹{Bonn|Pisa|Lund|Trento|Quebec|Utrecht}›⟧.
works_at: Should ⟦I work at ‹{Acme|Globex|Fabrikam|Tefal|Siemens|Philips}›⟧?
likes: Why would ⟦I like ‹{snails|mud|sherry|puzzles|pasta|museums}›⟧?
works_at: Did I tell you ⟦I work for ‹{Hooli|Wayne|Fabrikam|Tefal|Siemens|Philips}›⟧?
lives_in: If I get the job, ⟦I live in ‹{Berlin|Malta|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: If I retire early and sell the flat, ⟦I move to ‹{Crete|Peru|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I live in ‹{Vienna|Perth|Lund|Trento|Quebec|Utrecht}›⟧ if {I get the visa|she agrees|all goes well}.
lives_in: Unless they pay, ⟦I move to ‹{Sofia|Izmir|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: If I win¶⟦I live in ‹{Monaco|Zurich|Lund|Trento|Quebec|Utrecht}›⟧
works_at: Suppose ⟦I work at ‹{Acme|Nokia|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: As long as they pay, ⟦I work for ‹{Tyrell|Oscorp|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: When I grow up, ⟦I work at ‹{Nasa|Cern|Fabrikam|Tefal|Siemens|Philips}›⟧.
lives_in: Were I rich, ⟦I would live in ‹{Paris|Lugano|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I would have ⟦moved to ‹{Seville|Kyoto|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I {could|might|may|should|would} ⟦live in ‹{Exeter|Poole|Lund|Trento|Quebec|Utrecht}›⟧.
works_at: Had I studied, ⟦I work at ‹{Cern|Bell|Fabrikam|Tefal|Siemens|Philips}›⟧.
lives_in: I used to ⟦live in ‹{Ghent|Split|Derby|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: As a child ⟦I lived in ‹{Lima|Cardiff|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Back then ⟦I lived in ‹{Torun|Evora|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I lived in ‹{Siena|Lucca|Lund|Trento|Quebec|Utrecht}›⟧ until {last year|2019}.
lives_in: When I was a student ⟦I lived in ‹{Leiden|Bologna|Lund|Trento|Quebec|Utrecht}›⟧.
works_at: I was ⟦working at ‹{Acme|Dunder|Fabrikam|Tefal|Siemens|Philips}›⟧ {then|when we met}.
works_at: I previously ⟦worked at ‹{Globex|Soylent|Fabrikam|Tefal|Siemens|Philips}›⟧.
likes: I once ⟦liked ‹{punk|whisky|sherry|puzzles|pasta|museums}›⟧.
plays: I used to ⟦play ‹{tennis|the harp|oboe|darts}›⟧.
lives_in: {Paul|My boss|She|The letter|Everyone} said ⟦I live in ‹{Rome|Bonn|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {She|My sister} said, ⟦I live in ‹{Paris|Minsk|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I live in ‹{Crete|Oslo|Lund|Trento|Quebec|Utrecht}›⟧, {she said|says Paul|my brother claimed}.
lives_in: According to {Anna|the report}, ⟦I live in ‹{Kent|Pisa|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Rumour has it that|Apparently|They say|Word is} ⟦I live in ‹{Nantes|Brno|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I {heard|was told|read somewhere} that ⟦Anna lives in ‹{Rome|Gdansk|Lund|Trento|Quebec|Utrecht}›⟧.
likes: My {wife|mother} thinks ⟦I like ‹{golf|ties|sherry|puzzles|pasta|museums}›⟧.
works_at: Tom told me: ⟦I work at ‹{Acme|Hooli|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: He wrote "⟦I work at ‹{Acme|Umbrella|Fabrikam|Tefal|Siemens|Philips}›⟧" on the form.
works_at: I told my mother ⟦I work at ‹{Cern|Nasa|Fabrikam|Tefal|Siemens|Philips}›⟧.
likes: You said ⟦I like ‹{liver|kale|sherry|puzzles|pasta|museums}›⟧.
lives_in: I {want|plan|hope|intend|am going|am hoping} to ⟦move to ‹{Berlin|Malta|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I {will|'ll probably} ⟦live in ‹{Tokyo|Perth|Lund|Trento|Quebec|Utrecht}›⟧ next year.
lives_in: I wish ⟦I lived in ‹{Hawaii|Nice|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: My dream is that ⟦I live in ‹{Bali|Provence|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Maybe ⟦I live in ‹{Delft|Basel|Lund|Trento|Quebec|Utrecht}›⟧ one day.
lives_in: I'm {thinking about|considering} ⟦moving to ‹{Malta|Zadar|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I decided to ⟦move to ‹{Lyon|Cork|Lund|Trento|Quebec|Utrecht}›⟧ next spring.
works_at: I have applied to ⟦work at ‹{Acme|Bell|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: I'd love to ⟦work at ‹{Pixar|Lego|Fabrikam|Tefal|Siemens|Philips}›⟧.
owns: I want ⟦a ‹{dog|kayak|Tesla|sled|cello}›⟧.
owns: I would like ⟦a ‹{boat|garden|sled|cello}›⟧.
speaks: I need to ⟦speak ‹{Greek|French|Urdu|Latin|Czech}›⟧ by May.
lives_in: {In my dream|In the game|In this novel|In another life}, ⟦I live in ‹{Hawaii|Narnia|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Last night I dreamt ⟦I live in ‹{Atlantis|Rome|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: I had a strange dream. ⟦I live in ‹{Peru|Venice|Lund|Trento|Quebec|Utrecht}›⟧ and fly.
lives_in: Let's {role-play|pretend}. ⟦I live in ‹{Mordor|London|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: You are a pirate captain. ⟦I live in ‹{Tortuga|Nassau|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Write a {story|poem|letter} that begins: ⟦I live in ‹{Prague|Kyiv|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Write {a story|an essay|a short bio}.¶⟦I live in ‹{Prague|Kyiv|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Imagine that ⟦I live in ‹{Cairo|Delhi|Lund|Trento|Quebec|Utrecht}›⟧.
works_at: My character says hello. ⟦I work at ‹{Hogwarts|Arkham|Fabrikam|Tefal|Siemens|Philips}›⟧ is her line.
lives_in: Pretend ⟦I live in ‹{Boston|Dublin|Lund|Trento|Quebec|Utrecht}›⟧ for the rest of this chat.
lives_in: ⟦I live in ‹{Camelot|Gotham|Lund|Trento|Quebec|Utrecht}›⟧ in the game.
lives_in: Act as a travel agent. ⟦I live in ‹{Quebec|Havana|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: Translate to German:¶⟦I live in ‹{Rome|Graz|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Translate|Proofread|Rephrase|Summarise} this: ⟦I live in ‹{Ulm|Metz|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: How do you say "⟦I live in ‹{Sofia|Bari|Lund|Trento|Quebec|Utrecht}›⟧" in {French|Dutch}?
lives_in: ⟦I live in ‹{Porto|Turin|Lund|Trento|Quebec|Utrecht}›⟧.¶Translate this to {Dutch|Polish}, please.
lives_in: Correct the grammar¶⟦I live in ‹{Faro|Evora|Lund|Trento|Quebec|Utrecht}›⟧
lives_in: Please check this sentence: ⟦I live in ‹{Riga|Hull|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {Example|Example sentence|Sample input}: ⟦I live in ‹{Rome|Oslo|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: For example, ⟦I live in ‹{Rome|Oslo|Lund|Trento|Quebec|Utrecht}›⟧ has four words.
works_at: From: anna@acme.com¶Subject: Hello¶¶⟦I work at ‹{Acme|Globex|Fabrikam|Tefal|Siemens|Philips}›⟧ now.
works_at: > ⟦I work at ‹{Hooli|Wayne|Fabrikam|Tefal|Siemens|Philips}›⟧¶Nice, good for her.
works_at: On Monday Ben wrote:¶⟦I work at ‹{Initech|Nokia|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: ---- Forwarded message ----¶⟦I work at ‹{Bell|Lego|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: {Anna|Ben Smith}: ⟦I work at ‹{Acme|Tyrell|Fabrikam|Tefal|Siemens|Philips}›⟧
works_at: 2026-03-04 10:22:07 INFO bot - ⟦I work at ‹{Acme|Stark|Fabrikam|Tefal|Siemens|Philips}›⟧
works_at: [12:03] Tom: ⟦I work at ‹{Oscorp|Soylent|Fabrikam|Tefal|Siemens|Philips}›⟧
works_at: ```¶bio = ⟦I work at ‹{Acme|Cern|Fabrikam|Tefal|Siemens|Philips}›⟧¶```
works_at: "bio": "⟦I work at ‹{Acme|Pixar|Fabrikam|Tefal|Siemens|Philips}›⟧ these days"
works_at: <document>⟦I work at ‹{Acme|Vandelay|Fabrikam|Tefal|Siemens|Philips}›⟧.</document>
works_at: Here is the letter she sent me.¶¶⟦I work at ‹{Acme|Pfizer|Fabrikam|Tefal|Siemens|Philips}›⟧.
likes: The slogan reads "⟦I love ‹{New York|beans|sherry|puzzles|pasta|museums}›⟧".
likes: "⟦I like ‹{trains|turtles|sherry|puzzles|pasta|museums}›⟧" is what the shirt says.
likes: Sure, and ⟦I love ‹{Mondays|taxes|sherry|puzzles|pasta|museums}›⟧.
likes: ⟦I love ‹{meetings|traffic|sherry|puzzles|pasta|museums}›⟧. Not!
likes: ⟦I love ‹{queues|mosquitoes|sherry|puzzles|pasta|museums}›⟧ /s
lives_in: ⟦I live in ‹{Versailles|Wonderland|Lund|Trento|Quebec|Utrecht}›⟧. Just kidding.
lives_in: Yeah right, ⟦I live in ‹{Buckingham Palace|Eden|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: ⟦I live in ‹{Porto|Rome|Lund|Trento|Quebec|Utrecht}›⟧. {Sorry, I meant|No wait,|Scratch that,|I mean} Braga.
lives_in: ⟦I live in ‹{Lyon|Graz|Lund|Trento|Quebec|Utrecht}›⟧ - sorry, Braga.
lives_in: ⟦I live in ‹{Cork|Bath|Lund|Trento|Quebec|Utrecht}›⟧. That's wrong.
lives_in: My {brother|best friend} ⟦lives in ‹{Rome|Bonn|Lund|Trento|Quebec|Utrecht}›⟧.
lives_in: {My parents|Tom and Eva|Most people here} ⟦moved to ‹{Nice|Bari|Lund|Trento|Quebec|Utrecht}›⟧.
works_at: {Paul|The man next door} ⟦works at ‹{Acme|Globex|Fabrikam|Tefal|Siemens|Philips}›⟧.
likes: {Everyone|My dog} ⟦likes ‹{pizza|bones|sherry|puzzles|pasta|museums}›⟧.
likes: You ⟦like ‹{pizza|jazz|sherry|puzzles|pasta|museums}›⟧.
lives_in: She ⟦moved to ‹{Derby|Split|Lund|Trento|Quebec|Utrecht}›⟧ and I stayed.
lives_in: ⟦Move to ‹{Berlin|Spain|Lund|Trento|Quebec|Utrecht}›⟧!
lives_in: Please ⟦live in ‹{Leeds|Lima|Lund|Trento|Quebec|Utrecht}›⟧ for a year.
works_at: Don't ⟦work at ‹{Acme|Hooli|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: Tell them ⟦I work at ‹{Acme|Wayne|Fabrikam|Tefal|Siemens|Philips}›⟧.
works_at: Say "⟦I work at ‹{Acme|Nokia|Fabrikam|Tefal|Siemens|Philips}›⟧" if they ask.
works_at: Remind me to ⟦work at ‹{Acme|Bell|Fabrikam|Tefal|Siemens|Philips}›⟧ on Friday.
"""

ALSO = {
    *(
        "not user likes coffee",
        "not user likes beer",
        "user works_at Zeta",
        "user lives_in Braga",
        "user likes trams",
    ),
    *("user speaks Dutch", "not user likes queues", "not user likes rice pudding"),
}
"""Facts that other words of a turn state."""

PHRASES = """
works_at: I work {at night|at noon|at home|for free|for a living|for myself|on weekends|on Mondays|at 9|at a slow pace|as usual|as hard as I can}.
lives_in: I live in {hope|fear|sin|a dream|a hurry|May|the moment|a bubble}.
likes: I like {it|this|that you came|how it looks|to swim|the idea|them both|you}.
name: My {point|problem|guess} is {that it rains|simple|as good as yours}.
job: My {job|boss|car|brother} is {boring|killing me|30|German|tired}.
speaks: I speak {softly|from experience|for all of us|too fast}.
prefers: I prefer {not to say|to wait|that one|it that way}.
name: My name is {not important|hard to spell|on the list}.
lives_in: I live in {Lisbon or Porto|Paris in spirit}.
works_on: I work on {commission|it|call|Sundays|my own}.
"""
"""Turns in which the forms of the rules say nothing that could be remembered."""


class Saying(NamedTuple):
    """A turn, and what a model proposes from it."""

    text: str
    quote: str
    subject: str
    predicate: str
    object: str
    refuting: bool
    """Whether the true fact is the refutation."""

    @property
    def fact(self) -> str:
        """The fact in short."""
        sign = "not " if self.refuting else ""
        return f"{sign}{self.subject} {self.predicate} {self.object}"


_LINE = re.compile(r"(?P<no>not )?(?P<predicate>\w+)(?:/(?P<subject>[\w-]+))?: (?P<turn>.*)")
_ARTICLE = re.compile(r"(?:an?|the) ")


def sayings(table: str, part: str) -> list[Saying]:
    """Return the sayings of one half of a table."""
    lines = (line for row in table.splitlines() if row for line in spelled(row))
    found = (_saying(line) for line in dict.fromkeys(lines))
    return [one for one in found if half(one.text) == part]


def _saying(line: str) -> Saying:
    match = _LINE.fullmatch(line)
    assert match
    turn = match["turn"].replace("¶", "\n")
    object_ = re.search("‹(.*)›", turn)
    turn = re.sub("[‹›]", "", turn)
    quote = re.search("⟦(.*)⟧", turn)
    return Saying(
        text=re.sub("[⟦⟧]", "", turn),
        quote=quote[1] if quote else "",
        subject=match["subject"] or "user",
        predicate=match["predicate"],
        object=_ARTICLE.sub("", object_[1]) if object_ else "",
        refuting=match["no"] is not None,
    )
