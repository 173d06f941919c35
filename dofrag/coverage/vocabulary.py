"""Words that tell no subject: kinds of acts, names of slots, verbs of acts, ordinals. All are stems."""

from __future__ import annotations

from dofrag.text.fold import stem

# Words that say what kind of act or instrument a publication is. A reform may be titled an addition, a law may be
# issued by a decree: they tell sources apart only when nothing else names them.
KINDS = frozenset(
    stem(w)
    for w in [
        "decreto",
        "ley",
        "acuerdo",
        "reforma",
        "norma",
        "oficial",
        "mexicana",
        "resolucion",
        "programa",
        "plan",
        "aviso",
        "circular",
        "lineamientos",
        "convenio",
        "publicacion",
        "publicado",
        "articulo",
        "reglas",
        "aclaracion",
        "nota",
        "fe",
        "erratas",
        "declaratoria",
        "tarifa",
        "calendario",
        "oficio",
        "convocatoria",
        "proyecto",
        "modificacion",
        "adicion",
        "anexo",
        "materia",
        "diario",
        "federacion",
        "gaceta",
        "edicion",
        "nuevo",
        "reciente",
    ]
)
# Words that name the slot which is asked for, not what it is the slot of.
SLOTS = frozenset(
    stem(w)
    for w in [
        "valor",
        "valores",
        "monto",
        "cantidad",
        "cuota",
        "cifra",
        "numero",
        "importe",
        "precio",
        "fecha",
        "fechas",
        "dia",
        "dias",
        "plazo",
        "plazos",
        "termino",
        "vigor",
        "vigente",
        "vigencia",
        "entro",
        "entrada",
        "entrar",
        "entran",
        "regir",
        "rige",
        "rigen",
        "publico",
        "publicada",
        "publicacion",
        "establece",
        "dispone",
        "dispuso",
        "ordena",
        "ordeno",
        "contiene",
        "dice",
        "senala",
        "preve",
        "fija",
        "fijo",
        "tiene",
        "tuvo",
        "tuvieron",
        "llama",
        "define",
        "definicion",
        "naturales",
        "habiles",
        "natural",
        "habil",
        "meses",
        "años",
        "año",
        "mes",
        "diario",
        "mensual",
        "anual",
        "cuales",
        "enumera",
        "enumerados",
        "lista",
        "listado",
        "menciona",
        "cambio",
        "cambiaron",
        "cambiar",
        "comenzo",
        "aplicar",
        "aplicarse",
        "surte",
        "surtir",
        "efectos",
        "partir",
        "quien",
        "firma",
        "surten",
        "exige",
        "debe",
    ]
)
ACTS = frozenset(
    stem(w)
    for w in [
        "abrogo",
        "derogo",
        "reformo",
        "modifico",
        "dejo",
        "toco",
        "cambio",
        "expidio",
        "aprobo",
        "publico",
        "fijo",
    ]
)
"""Verbs of a question that may stand among the words that describe an instrument."""
ORDINALS = frozenset(
    stem(w)
    for w in ["primera", "segunda", "tercera", "cuarta", "quinta", "sexta", "septima", "octava", "novena", "decima"]
)
PLAIN = frozenset(
    stem(verb)
    for verb in (
        *("costaba", "cuesta", "costo", "costara", "vale", "valia", "mide", "miden", "abarca", "abarcan", "esta"),
        *("estan", "exigen", "requiere", "requieren", "comprende", "comprenden", "asciende", "paga", "pagan"),
        *("cobra", "cobran", "queda", "quedo", "quedaron", "subio", "bajo", "aumento", "corresponde", "hubo", "hay"),
    )
)
"""Verbs of a question of how much, where or which that an answer says in other words, or leaves out."""

# Verbs of a question that say no more than that a value was so: *¿en cuánto se ubicó…?*
STANDING = frozenset(
    stem(w)
    for w in [
        "ubico",
        "ubica",
        "situo",
        "situa",
        "registro",
        "registra",
        "alcanzo",
        "alcanza",
        "cotizo",
        "cotiza",
        "quedo",
        "queda",
        "llego",
        "llega",
        "cerro",
        "cierra",
        "estuvo",
        "esta",
        "vale",
        "valia",
        "valio",
        "rige",
        "rigen",
        "rigio",
        "regia",
        "aplica",
        "aplico",
        "aplicaba",
        "fijo",
        "fija",
        "fijaron",
        "obtuvo",
        "obtenido",
        "publico",
        "publica",
        "publicado",
        "publicada",
        "correspondio",
        "corresponde",
        "asciende",
        "ascendio",
        "paga",
        "pagaba",
        "cobra",
        "cobraba",
    ]
)

COMMON = frozenset(
    map(
        stem,
        (
            *("titular", "verdad", "cierto", "relacion", "caso", "general", "nacional", "mexico", "hoy", "secuencia"),
            *(
                "cronologia",
                "dof",
                "dato",
                "tipo",
                "clase",
                "forma",
                "manera",
                "parte",
                "persona",
                "cosa",
                "razon",
                "motivo",
                "mismo",
            ),
        ),
    )
)
"""Words that tell no one thing from another."""

MEASURES = frozenset(
    map(
        stem,
        (
            *("pena", "penas", "multa", "multas", "sancion", "sanciones", "prision", "costo", "tarifa", "sueldo"),
            *("salario", "indemnizacion", "duracion", "periodo", "porcentaje", "tasa", "edad", "superficie"),
        ),
    )
)
"""Nouns of what is measured, which stand in many a sentence: what it is the measure *of* tells them apart."""
