"""The words of the embedded web: general filler, a dozen subjects, and three sub-topics in each.

The text of a page is sentences cut to simple patterns and filled from these lists, so that two pages on
one sub-topic share words, siblings share the words of their parent subject, and everything shares the
filler.  Verbs are in the past tense, which spares the patterns any agreement in number.  An underscore
stands for a space inside one entry.  Early words are drawn more often than late ones.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GENERAL", "PATTERNS", "SITE_WORDS", "SUBJECTS", "SubTopic", "Subject", "Words"]


def _split(text: str) -> tuple[str, ...]:
    """Turn a block of words into a tuple of entries."""
    return tuple(word.replace("_", " ") for word in text.split())


@dataclass(frozen=True, slots=True)
class Words:
    """Nouns, adjectives and past-tense verbs of one origin."""

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubTopic:
    """What a page can be about, and what somebody looking for it would type."""

    name: str
    query: str
    words: Words


@dataclass(frozen=True, slots=True)
class Subject:
    """A parent topic with the words its sub-topics share."""

    name: str
    words: Words
    subtopics: tuple[SubTopic, ...]


def _words(nouns: str, adjectives: str, verbs: str) -> Words:
    return Words(_split(nouns), _split(adjectives), _split(verbs))


def _sub(name: str, query: str, nouns: str, adjectives: str, verbs: str) -> SubTopic:
    return SubTopic(name, query, _words(nouns, adjectives, verbs))


GENERAL = _words(
    """people years time part place work way day number group problem fact case week question area room
    idea month story result change morning reason research moment teacher level office member evening
    community name team minute kind side report decision view relationship town road effect project
    chance field model plan rule example list visitors neighbours readers photographs letters meeting
    summer winter season budget weather discussion notes details interest experience attention advice
    history practice material shelf corner afternoon conversation answer difference beginning""",
    """small large early late long recent simple common useful local quiet different important ordinary
    possible careful patient new old strange clear short whole certain best several familiar modest
    honest steady practical public private warm cold bright heavy gentle curious remarkable""",
    """found changed kept followed showed brought needed moved helped started answered carried reached
    described explained noticed compared replaced joined finished considered remembered mentioned
    offered supported avoided improved shared visited counted discussed repeated expected preferred
    gathered""",
)

# {n} noun, {a} adjective, {v} past-tense verb: the rest stands as it is.
PATTERNS = (
    "the {a} {n} {v} the {n} near the {n}",
    "in most cases {n} {v} {a} {n}, and the {n} {v} them",
    "nobody {v} the {n} until the {a} {n} {v} the {n}",
    "{a} {n} and {n} {v} more than the {n} did",
    "when {n} {v} the {n}, the {a} {n} {v} it as well",
    "there is no {n} without {n}, as every {a} {n} {v}",
    "for years the {n} {v} only {a} {n}",
    "last spring, {n} {v} the {a} {n} with {n} and {n}",
    "{n}, {n} and {n} {v} one another",
    "some {v} the {n}; others {v} {a} {n} instead",
    "what the {n} {v} was less {a} than the {n}",
    "after the {n}, {a} {n} {v} a {a} kind of {n}",
    "it was the {n} that {v} the {n}, not the {n}",
    "a {a} look at {n} {v} how {n} {v} the {n}",
    "with {n} in mind, they {v} {n} and {v} the {a} {n}",
    "much of the {n} {v} from {a} {n} to {n}",
    "our {n} {v} {n} twice, and {a} {n} once",
    "although {n} {v} the {n}, {a} {n} are still {a}",
    "the {n} of {n} {v} both {n} and {n}",
    "{a} {n} {v} {n} long before {n} {v} {n}",
    "ask about {n} and you will hear of {a} {n}",
    "between {n} and {n} lies a {a} {n}",
    "those who {v} {n} also {v} the {a} {n} of the {n}",
    "the {n} is {a}, the {n} is {a}, and the {n} {v} both",
    "without {a} {n}, {n} {v} little",
    "only when the {n} {v} did the {n} become {a}",
)

SITE_WORDS = _split(
    """atlas journal notes guide review archive society desk forum weekly watch almanac ledger quarterly
    letters workshop bulletin club reader register companion digest circle handbook post observer
    gazette library lantern compass"""
)

SUBJECTS: tuple[Subject, ...] = (
    Subject(
        "marine biology",
        _words(
            """ocean seawater species fish reef plankton habitat currents tides larvae divers samples
            biologists ecosystem coast salinity seabed predators plants_of_the_sea molluscs crustaceans
            shells nets research_vessel depth sonar oxygen nutrients kelp populations fisheries lagoon
            transects surveys aquarium harbour conservation""",
            """marine tropical coastal shallow deep salty endangered living pelagic protected translucent""",
            """surveyed tagged swam_past dived_to measured sampled fed_on drifted_past colonised sheltered""",
        ),
        (
            _sub(
                "coral reefs",
                "coral reef bleaching",
                """coral_reef corals bleaching reefs polyps coral_bleaching zooxanthellae algae heat_stress
                reef_flat staghorn atoll symbiosis warm_water parrotfish calcium_carbonate coral_nursery
                acidification fragments""",
                """bleached branching stony reef-building heat-stressed symbiotic""",
                """bleached recovered_from overgrew expelled calcified""",
            ),
            _sub(
                "hydrothermal vents",
                "hydrothermal vent communities",
                """hydrothermal_vents vent_fields black_smokers tubeworms sulphides chimneys submersible
                ridge bacterial_mats abyss chemosynthesis trench pressure vent_crabs basalt plumes
                hot_fluid""",
                """hydrothermal abyssal chemosynthetic sulphurous crushing""",
                """vented descended_to precipitated spewed""",
            ),
            _sub(
                "whale migration",
                "whale migration songs",
                """whales whale_song humpbacks pods calves flukes breeding_grounds blubber krill
                hydrophones migration_route breaching dorsal_fin whale_watchers barnacles spouts
                strandings""",
                """migrating humpback baleen vocal acoustic""",
                """migrated_past breached nursed surfaced_beside sang_to""",
            ),
        ),
    ),
    Subject(
        "astronomy",
        _words(
            """stars sky orbit galaxy observatory light spectrum planets gravity moon night sun
            constellation dust nebula distance astronomers radiation eclipse comet brightness hydrogen
            light-years magnitude rotation horizon cosmos atmosphere photons charts dwarf_star satellite
            darkness universe signal spectra""",
            """distant faint luminous stellar celestial dark orbital cosmic red-shifted visible""",
            """observed orbited eclipsed emitted catalogued brightened resolved glimpsed charted""",
        ),
        (
            _sub(
                "exoplanets",
                "exoplanet transit detection",
                """exoplanets transits transit_depth host_star light_curve hot_jupiter super-earth
                habitable_zone radial_velocity wobble detections orbital_period candidates gas_giant
                biosignatures microlensing""",
                """transiting habitable rocky tidally_locked extrasolar""",
                """transited dimmed detected confirmed""",
            ),
            _sub(
                "amateur telescopes",
                "telescope mirror grinding",
                """telescopes mirror grinding eyepiece finder tripod aperture focal_length dobsonian
                refractor collimation pitch_lap abrasive barlow equatorial_mount star_party dew_heater""",
                """parabolic polished amateur portable achromatic""",
                """ground polished collimated focused""",
            ),
            _sub(
                "meteorites",
                "meteorite impact craters",
                """meteorites craters impact fireball chondrites iron_meteorite fusion_crust strewn_field
                shocked_quartz asteroid_belt ejecta regolith bolide meteor_shower widmanstatten_pattern
                tektites""",
                """meteoritic molten cratered chondritic nickel-rich""",
                """impacted cratered fell_upon vaporised""",
            ),
        ),
    ),
    Subject(
        "gardening",
        _words(
            """garden soil seeds leaves roots plants flowers spade water sunlight shade pots greenhouse
            shoots border lawn weeds slugs frost bulbs hedge gloves trowel watering_can pruning stems
            blossom bees earthworms fence seedlings trellis clay loam gardener beds shed""",
            """green fertile well-drained leafy perennial sunny muddy hardy fragrant overgrown""",
            """planted watered dug pruned sowed weeded grew sprouted trimmed raked""",
        ),
        (
            _sub(
                "composting",
                "compost heap worms",
                """compost heap worms kitchen_scraps humus decomposition compost_bin brown_leaves nitrogen
                carbon_ratio wormery microbes grass_clippings eggshells leaf_mould steam_from_the_heap
                turning_fork bokashi""",
                """rotting crumbly composted damp earthy""",
                """composted rotted turned layered""",
            ),
            _sub(
                "rose growing",
                "climbing rose pruning",
                """roses climbing_rose rose_bush thorns petals black_spot rootstock grafting deadheading
                rambler rose_hips greenfly buds mulch floribunda rosarian arches""",
                """thorny scented double-flowered climbing old-fashioned""",
                """deadheaded grafted bloomed trained_along""",
            ),
            _sub(
                "kitchen vegetables",
                "vegetable bed rotation",
                """vegetables crop_rotation tomatoes beans carrots raised_bed cabbages potatoes courgettes
                lettuces allotment harvest brassicas onion_sets cold_frame peas radishes""",
                """edible homegrown ripe crunchy rotated""",
                """harvested rotated thinned earthed_up""",
            ),
        ),
    ),
    Subject(
        "railways",
        _words(
            """railway trains track station platform signal carriages rails timetable passengers tunnel
            bridge guard driver gauge sleepers junction branch_line ticket viaduct points whistle depot
            freight_wagons rolling_stock level_crossing gradient ballast bogies coupling sidings
            turntable embankment conductor terminus line_speed""",
            """punctual narrow-gauge rattling derelict electrified scheduled express regional riveted""",
            """departed shunted coupled hauled braked boarded rolled_past signalled restored""",
        ),
        (
            _sub(
                "steam locomotives",
                "steam locomotive boiler",
                """steam_locomotive boiler firebox pistons coal tender valve_gear smokebox cylinders
                fireman footplate superheater driving_wheels chimney boiler_tubes injector shed_master""",
                """coal-fired hissing sooty cylindrical preserved""",
                """steamed stoked fired overhauled""",
            ),
            _sub(
                "model railways",
                "model railway layout",
                """layout model_railway scale baseboard scenery controller oo_gauge miniature_trees
                point_motors track_plan digital_command soldering_iron plaster kits backdrop
                buildings_in_card modellers""",
                """miniature hand-painted scale-sized detailed wired""",
                """modelled glued wired painted""",
            ),
            _sub(
                "night trains",
                "night train sleeper",
                """night_train sleeper_car couchette berths bunk dining_car sleeping_car_attendant
                border_stop midnight_departure reservation compartment breakfast_tray corridor pillows
                overnight_connection arrival_at_dawn cabin""",
                """overnight sleepless cosy trans-european moonlit""",
                """slept_through reserved rocked woke_in""",
            ),
        ),
    ),
    Subject(
        "cooking",
        _words(
            """kitchen recipe flavour oven salt butter pan flour spoon ingredients heat bowl garlic onions
            pepper sauce meal taste table oil stove knife cook herbs sugar simmering texture dinner
            plates temperature vinegar spices broth aroma crust portions""",
            """delicious crisp salted tender roasted sour sweet fresh savoury golden bitter""",
            """baked stirred tasted simmered chopped mixed seasoned served boiled fried""",
        ),
        (
            _sub(
                "sourdough bread",
                "sourdough starter bread",
                """sourdough starter bread dough levain loaf wild_yeast proofing crumb hydration banneton
                rye_flour scoring dutch_oven gluten oven_spring baker""",
                """crusty floury bubbly leavened tangy""",
                """kneaded proofed shaped fed_the_starter""",
            ),
            _sub(
                "fermented vegetables",
                "fermented cabbage brine",
                """fermentation cabbage brine kimchi sauerkraut jars lactic_acid pickles crock chilli_paste
                probiotics weights gherkins bubbles mould airlock fermenters""",
                """fermented briny pickled fizzy lactic""",
                """fermented salted_down pickled burped""",
            ),
            _sub(
                "cast iron pans",
                "cast iron seasoning",
                """cast_iron skillet seasoning pan_handle linseed_oil rust griddle smoke_point patina
                non-stick_surface scrubbing_chain enamel searing cornbread steel_wool iron_lid burner""",
                """blackened seasoned rusty smooth heavy-bottomed""",
                """seared scoured oiled re-seasoned""",
            ),
        ),
    ),
    Subject(
        "music",
        _words(
            """music melody rhythm tune concert notes_on_the_stave audience performance musicians harmony
            score tempo rehearsal instrument sound chord hall stage recording key bars conductor
            composer tone octave pitch applause scales sheet_music ear pause dynamics lessons repertoire
            metronome phrasing""",
            """musical melodic loud soft rhythmic lyrical harmonic out-of-tune resonant""",
            """played rehearsed composed performed tuned listened_to recorded improvised hummed""",
        ),
        (
            _sub(
                "violin making",
                "violin maker varnish",
                """violins luthier varnish spruce maple scroll fingerboard soundpost f-holes purfling
                bow_hair bridge_of_the_violin glue_pot ribs gut_strings workshop_bench arching""",
                """varnished carved hand-made flamed cremonese""",
                """carved varnished bowed strung""",
            ),
            _sub(
                "jazz piano",
                "jazz piano improvisation",
                """jazz piano improvisation swing voicings blues_scale bebop left_hand keyboard trio solos
                standards stride comping syncopation piano_bench seventh_chord""",
                """syncopated swinging improvised bluesy chromatic""",
                """swung soloed comped transcribed""",
            ),
            _sub(
                "choral singing",
                "choir singing voices",
                """choir singing voices sopranos altos tenors basses choirmaster breathing hymns motet
                vowels warm-ups cathedral descant part-song choir_stalls""",
                """choral sung unaccompanied four-part breathy""",
                """sang chanted breathed blended""",
            ),
        ),
    ),
    Subject(
        "mountaineering",
        _words(
            """mountain summit climbers ridge_line slope snow rope valley altitude peak boots rucksack
            weather_window guide_book ascent descent path tent scree gully helmet wind ice face map
            expedition clouds cornice col base_camp crag stove_fuel torch rescue exposure""",
            """steep alpine snowy rocky exposed exhausted icy windy high vertical""",
            """climbed descended traversed ascended slipped_on camped_below hiked bivouacked_under""",
        ),
        (
            _sub(
                "glacier travel",
                "glacier crevasse rescue",
                """glacier crevasse crevasse_rescue ice_axe crampons rope_team snow_bridge moraine seracs
                meltwater bergschrund ice_screw prusik firn icefall self-arrest harness""",
                """glacial crevassed roped frozen snow-covered""",
                """roped_up probed belayed melted""",
            ),
            _sub(
                "climbing knots",
                "climbing knots belay",
                """knots belay figure_of_eight clove_hitch bowline carabiner sling anchor munter_hitch
                cordelette double_fisherman abseil belay_device loops tail_of_the_rope overhand
                dressing_the_knot""",
                """knotted tied load-bearing slippery backed-up""",
                """tied knotted clipped abseiled""",
            ),
            _sub(
                "mountain huts",
                "alpine hut warden",
                """huts warden dormitory alpine_hut bunks soup guest_book hut-to-hut_route woodstove
                blankets terrace drying_room water_tank helicopter_supply early_start half_board
                shutters""",
                """wooden crowded unheated hospitable remote""",
                """stayed_at dried welcomed snored_through""",
            ),
        ),
    ),
    Subject(
        "medieval history",
        _words(
            """king knights manuscript church charter century village peasants lord abbey chronicle kingdom
            bishop plague siege sword parchment crusade tithe feudal_duties court pilgrims market_day
            heraldry seal nobles serfs crown treaty scribe relics tournament chapel manor archives
            dynasty""",
            """medieval feudal gothic royal monastic illuminated ancient pious chivalric""",
            """ruled besieged inherited crowned chronicled conquered pledged inscribed founded""",
        ),
        (
            _sub(
                "castles",
                "medieval castle siege",
                """castle keep moat drawbridge battlements curtain_wall trebuchet gatehouse portcullis
                garrison motte dungeon arrow_slits stonemasons bailey ramparts towers""",
                """fortified crenellated besieged stone-built impregnable""",
                """fortified stormed defended undermined""",
            ),
            _sub(
                "monasteries",
                "monastery monks scriptorium",
                """monastery monks scriptorium cloister abbot vows refectory psalter novice
                rule_of_the_order herb_garden matins vellum almonry infirmary silence brewhouse""",
                """cloistered prayerful benedictine austere cistercian""",
                """prayed copied_out fasted illuminated""",
            ),
            _sub(
                "guilds and trade",
                "guild merchants trade",
                """guild merchants trade apprentices wool weavers journeyman hanseatic_league trade_fair
                coins tolls masters cloth_hall ledgers_of_account dyers craft_monopoly salt_road""",
                """mercantile woollen apprenticed chartered prosperous""",
                """traded bartered weighed apprenticed""",
            ),
        ),
    ),
    Subject(
        "computing",
        _words(
            """computer software memory code program bits data processor machine bug keyboard_shortcut
            algorithm files terminal bytes instructions cache disk engineers users system documentation
            release server function loop stack pointer interface screen kernel test version input output
            debugger""",
            """digital binary fast open-source recursive buffered parallel asynchronous portable""",
            """compiled executed stored debugged loaded computed patched allocated crashed""",
        ),
        (
            _sub(
                "compilers",
                "compiler register allocation",
                """compiler register_allocation parser syntax_tree intermediate_code tokens optimiser
                linker type_checker dead_code inlining basic_blocks grammar lexer code_generator
                spilling static_single_assignment""",
                """optimising typed lexical intermediate inlined""",
                """parsed inlined optimised lowered""",
            ),
            _sub(
                "computer networks",
                "network routing packets",
                """network routing packets router latency bandwidth congestion ethernet handshake checksum
                firewall name_server routing_table ports backbone congestion_window retransmission""",
                """routed congested end-to-end wireless encrypted""",
                """routed transmitted acknowledged forwarded""",
            ),
            _sub(
                "retro computers",
                "retro computer cassette",
                """retro_computer cassette floppy_disk eight-bit_machine joystick cartridge basic_listing
                sprites capacitors sound_chip cathode_ray_tube character_set home_micro emulator
                ram_expansion power_supply type-in_games""",
                """eight-bit vintage beige pixelated yellowed""",
                """emulated desoldered booted retro-fitted""",
            ),
        ),
    ),
    Subject(
        "birdwatching",
        _words(
            """birds nest feathers wings flock eggs binoculars beak woodland song chicks plumage hide perch
            branch bird_reserve ringing migration_season talons field_guide twitchers dawn_chorus prey
            warden_of_the_reserve hedgerow marsh brood sightings checklist courtship tail juveniles
            territory roost wetlands crest""",
            """feathered winged flightless rare speckled watchful brown migratory crested""",
            """nested perched flew_over sang_from hatched ringed spotted fledged roosted""",
        ),
        (
            _sub(
                "owls",
                "barn owl pellets",
                """owls barn_owl pellets nest_box voles silent_flight facial_disc hooting tawny_owl
                night_vision rodents owlets barn_rafters ear_tufts mouse_bones screech dusk""",
                """nocturnal hooting silent heart-shaped downy""",
                """hooted swooped dissected regurgitated""",
            ),
            _sub(
                "stork migration",
                "stork migration tracking",
                """storks stork_nest tracking_device thermals flyway chimney_nests red_bill frogs
                gps_logger autumn_passage wintering_grounds strait soaring_flocks meadow bill-clattering
                satellite_tags nest_platform""",
                """soaring long-legged satellite-tracked white trans-saharan""",
                """soared clattered tracked overwintered_in""",
            ),
            _sub(
                "garden bird feeders",
                "bird feeder sunflower",
                """bird_feeder sunflower_hearts peanuts suet_balls finches tits robins squirrels bird_table
                seed_mix nyjer bird_bath window_feeder sparrows fat_blocks cats hygiene""",
                """squirrel-proof hanging hungry greedy seed-filled""",
                """fed refilled pecked scattered""",
            ),
        ),
    ),
    Subject(
        "photography",
        _words(
            """camera picture light_meter exposure_time film shutter image tripod_head photographers frame
            subject_matter contrast print portrait shadows landscape flash composition focus viewfinder
            negative studio album colour grain exhibition sensor highlights gallery aperture_ring
            backlight reflections strap battery crop sharpness""",
            """photographic blurred sharp exposed overexposed monochrome candid grainy vivid""",
            """photographed framed exposed focused_on printed cropped lit captured posed""",
        ),
        (
            _sub(
                "darkroom printing",
                "darkroom print developer",
                """darkroom developer fixer enlarger stop_bath safelight photographic_paper bleaching
                toning test_strip silver_gelatin trays contact_sheet dodging drying_rack chemicals
                fibre_paper""",
                """archival toned selenium chemical bleached""",
                """developed fixed enlarged dodged_and_burned""",
            ),
            _sub(
                "macro photography",
                "macro insect photography",
                """macro_photography insects focus_stacking extension_tubes ring_flash dragonflies
                dew_drops magnification depth_of_field beetles diffuser close-ups compound_eyes stamens
                focusing_rail butterflies ants""",
                """close-up magnified diffused tiny iridescent""",
                """stacked magnified stalked diffused""",
            ),
            _sub(
                "vintage lenses",
                "vintage lens adapter",
                """vintage_lens adapter bokeh aperture_blades lens_mount glass_elements fungus_on_the_glass
                helicoid flare screw_mount coatings fifty_millimetre rangefinder focus_ring manual_focus
                front_element lens_cap""",
                """manual radioactive swirly uncoated wide-open""",
                """adapted mounted disassembled refocused""",
            ),
        ),
    ),
    Subject(
        "health",
        _words(
            """patients doctor symptoms clinic treatment blood illness nurse pain trial muscle heart
            diagnosis hospital dose risk body exercise therapy medicine infection recovery prescription
            skin immune_system appointment fever study_group physician diet lungs hormones ward
            side_effects check-up tissue""",
            """healthy chronic clinical medical painful mild severe acute restful inflamed""",
            """treated diagnosed prescribed healed examined recovered monitored relieved prevented""",
        ),
        (
            _sub(
                "sleep",
                "sleep insomnia rhythm",
                """sleep insomnia circadian_rhythm melatonin naps dreams bedroom sleep_diary jet_lag
                blue_light snoring rem_phase sleep_apnoea bedtime alarm_clock drowsiness mattress""",
                """sleepy circadian rested wakeful drowsy""",
                """slept dozed dreamed yawned""",
            ),
            _sub(
                "vaccines",
                "vaccine immunity antibodies",
                """vaccine antibodies immunity booster antigens measles injection adjuvant herd_immunity
                vaccination_campaign outbreak viral_vector messenger_rna syringe cold_chain
                immune_memory epidemiologists""",
                """vaccinated immune viral attenuated inoculated""",
                """vaccinated inoculated immunised neutralised""",
            ),
            _sub(
                "running injuries",
                "running injury tendon",
                """running injury tendon knee shin_splints achilles stride_length marathon running_shoes
                physiotherapist stretching cadence stress_fracture plantar_fascia foam_roller warm-up
                mileage""",
                """overused sore swollen biomechanical limping""",
                """ran strained stretched rested""",
            ),
        ),
    ),
)
