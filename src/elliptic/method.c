#include "linear/phases.h"
#include "elliptic/stages.h"

static const kg_method_stage stages[] = {
    [KG_STAGE_MESH] = {"mesh", KG_PHASE_TRANSFER, KG_PHASE_TRANSFER, 0},
    [KG_STAGE_TRANSFER] = {"transfer", KG_PHASE_TRANSFER, KG_PHASE_LOADS,
                           KG_IN(TRANSFER) | KG_IN(LOADS)},
    [KG_STAGE_LOCAL_MATRICES] = {"local_matrices", KG_PHASE_LOCAL, KG_PHASE_CONDENSE,
                                 KG_IN(LOCAL) | KG_IN(CONDENSE)},
    [KG_STAGE_ASSEMBLY] = {"assembly", KG_PHASE_ASSEMBLY, KG_PHASE_ASSEMBLY,
                           KG_FROM(ASSEMBLY, LEVELS)},
    [KG_STAGE_TRACE_SOLVE] = {"trace_solve", KG_PHASE_BOUND, KG_PHASE_BOUND, KG_IN_SOLVE},
    [KG_STAGE_LOCAL_SOLVE] = {"local_solve", KG_PHASE_RECOVER, KG_PHASE_RECOVER, KG_IN(RECOVER)},
    [KG_STAGE_POSTPROCESS] = {"postprocess", KG_PHASE_RECOVER, KG_PHASE_RECOVER, KG_IN(RECOVER)},
    [KG_STAGE_OUTPUT] = {"output", KG_PHASE_RECOVER, KG_PHASE_RECOVER, 0}};

const kg_method kg_elliptic_method = {"elliptic", KG_STAGE_COUNT, stages};
