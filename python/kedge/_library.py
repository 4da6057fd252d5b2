"""libkedge as ctypes sees it: the structures and functions of include/kedge, in the order of its headers.

tests/python/test_library.py compiles a C program that checks every member's place and every enumerator.
"""
import ctypes
import os
import pathlib
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p

GPU_MAX, STAGES_MAX, OPERATORS_MAX, ORDER_MAX, WAVE_FIELDS_MAX = 32, 16, 8, 12, 8
STATUS = ("OK", "ERR_ARG", "ERR_INPUT", "ERR_IO", "ERR_MEMORY", "ERR_DEVICE", "ERR_UNSUPPORTED", "ERR_NUMERIC",
          "ERR_CANCELLED", "ERR_INTERNAL")
BACKENDS = ("auto", "host", "shadow", "cuda")
BOUNDARY_TYPES = ("dirichlet", "neumann", "robin")
PLANE_FIELDS = ("u", "qx", "qy", "u_star", "sigma_x", "sigma_y")
FIELDS = (*PLANE_FIELDS, "qz", "sigma_z")  # in space
STOPS = ("tolerance", "rounding", "limit")


class Progress(ctypes.Structure):
    _fields_ = [("stage", c_char_p), ("finished", c_bool), ("seconds", c_double), ("iteration", c_int64),
                ("relative_residual", c_double), ("tolerance", c_double)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("backend", c_int), ("device", c_int), ("threads", c_int), ("bind_threads", c_bool)]


class MeshArrays(ctypes.Structure):
    _fields_ = [("n_vertices", c_int64), ("vertices", c_void_p), ("n_triangles", c_int64), ("triangles", c_void_p),
                ("regions", c_void_p), ("n_lines", c_int64), ("lines", c_void_p), ("line_tags", c_void_p),
                ("n_names", c_int), ("name_tags", c_void_p), ("names", POINTER(c_char_p))]


class SpaceArrays(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("n_vertices", c_int64), ("vertices", c_void_p), ("n_tetrahedra", c_int64),
                ("tetrahedra", c_void_p), ("regions", c_void_p), ("n_triangles", c_int64), ("triangles", c_void_p),
                ("triangle_tags", c_void_p), ("n_names", c_int), ("name_tags", c_void_p), ("names", POINTER(c_char_p)),
                ("name_dimensions", c_void_p)]


class MeshInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("elements", c_int64), ("edges", c_int64), ("vertices", c_int64),
                ("boundary_edges", c_int64), ("quadrilaterals", c_int64), ("geometry", c_int),
                ("turned_elements", c_int64), ("unused_vertices", c_int64), ("shared_elements", c_int64),
                ("interior_lines", c_int64), ("parts", c_int64), ("coincident_edges", c_int64), ("area", c_double),
                ("min_area", c_double), ("max_area", c_double), ("min_quality", c_double),
                ("mean_quality", c_double), ("min_angle", c_double), ("min_jacobian", c_double),
                ("box", c_double * 4), ("shared_lines", c_int64), ("periodic_lines", c_int64),
                ("coincident_at", c_double * 2), ("join_distance", c_double), ("overlapping_edges", c_int64),
                ("overlapping_at", c_double * 2), ("joined_vertices", c_int64),
                ("ghost_elements", c_int64), ("partition", c_int), ("partitions", c_int), ("dimension", c_int),
                ("low", c_double * 3), ("high", c_double * 3),
                ("coincident_z", c_double), ("overlapping_z", c_double)]


class MeshGroup(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("tag", c_int32), ("dimension", c_int), ("count", c_int64),
                ("measure", c_double), ("n_inner", c_int64), ("inner_measure", c_double)]


class Setting(ctypes.Structure):
    _fields_ = [("section", c_char_p), ("key", c_char_p), ("value", c_char_p), ("function", c_void_p * 6),
                ("user", c_void_p * 6)]


class Points(ctypes.Structure):
    _fields_ = [("n", c_size_t), ("x", c_void_p), ("y", c_void_p), ("normal_x", c_void_p), ("normal_y", c_void_p),
                ("region", c_void_p), ("mesh", c_void_p), ("element", c_void_p), ("place", c_void_p), ("r", c_void_p),
                ("s", c_void_p), ("z", c_void_p), ("normal_z", c_void_p), ("third", c_void_p), ("t", c_double)]


class IntegralValue(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("value", c_double)]


class IntegralOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("of", c_char_p), ("function", c_void_p), ("user", c_void_p), ("on", c_char_p),
                ("quadrature", c_int), ("problem", c_void_p), ("name", c_char_p)]


class StageReport(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("seconds", c_double), ("bytes", c_double), ("flops", c_double)]


class GroupValues(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("tag", c_int), ("inside", c_bool), ("edges", c_int64),
                ("length", c_double), ("integral", c_double), ("mean", c_double), ("flux", c_double)]


class RegionValues(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("tag", c_int), ("elements", c_int64), ("area", c_double),
                ("integral", c_double), ("mean", c_double), ("energy", c_double), ("source", c_double),
                ("reaction", c_double), ("least", c_double), ("most", c_double), ("least_at", c_double * 2), ("most_at", c_double * 2),
                ("least_z", c_double), ("most_z", c_double), ("storage", c_double)]


class Balance(ctypes.Structure):
    _fields_ = [("source", c_double), ("reaction", c_double), ("flux", c_double), ("remainder", c_double)]


class Report(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("elements", c_int64), ("edges", c_int64), ("vertices", c_int64),
                ("boundary_edges", c_int64), ("order", c_int), ("trace_unknowns", c_int64),
                ("element_unknowns", c_int64), ("backend", c_char_p), ("device", c_char_p),
                ("operator_name", c_char_p), ("preconditioner", c_char_p), ("precision", c_char_p),
                ("smoother", c_char_p), ("smoothing_steps", c_int), ("multigrid_levels", c_int),
                ("setup_seconds", c_double), ("iterations", c_int64), ("refinements", c_int),
                ("start_residual", c_double), ("tolerance", c_double), ("relative_residual", c_double),
                ("rounding_residual", c_double), ("stop", c_int), ("converged", c_bool), ("solver_note", c_char_p),
                ("evaluation", c_char_p), ("has_exact", c_bool), ("u_l2", c_double), ("u_linf", c_double),
                ("q_l2", c_double), ("u_star_l2", c_double), ("n_stages", c_int),
                ("stages", StageReport * STAGES_MAX), ("peak_device_bytes", c_int64),
                ("predicted_device_bytes", c_int64), ("local_matrices_bytes", c_int64), ("operator_bytes", c_int64),
                ("sigma_l2", c_double), ("triangle_inverse", c_char_p), ("quadrilateral_inverse", c_char_p),
                ("stabilization_length", c_double), ("output_error", c_char_p),
                ("iteration_u", c_double), ("iteration_u_star", c_double),
                ("iteration_q", c_double), ("iteration_sigma", c_double), ("extra_iterations", c_int64),
                ("needed_tolerance", c_double),
                ("refined_elements", c_int64), ("refined_facets", c_int64), ("solution_bytes", c_int64),
                ("n_groups", c_int), ("n_regions", c_int), ("groups", POINTER(POINTER(GroupValues))),
                ("regions", POINTER(POINTER(RegionValues))), ("balance", Balance), ("conductance", c_double),
                ("energy_conductance", c_double),
                ("integrals", POINTER(POINTER(IntegralValue))), ("n_integrals", c_int),
                ("probe_note", c_char_p), ("dimension", c_int), ("storage", c_double), ("march", c_void_p)]


class Plan(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("elements", c_int64), ("edges", c_int64), ("vertices", c_int64),
                ("boundary_edges", c_int64), ("order", c_int), ("trace_unknowns", c_int64),
                ("operator_kind", c_int), ("preconditioner", c_char_p), ("precision", c_char_p),
                ("smoother", c_char_p), ("n_stages", c_int), ("stage_name", c_char_p * STAGES_MAX),
                ("stage_bytes", (c_int64 * STAGES_MAX) * OPERATORS_MAX), ("peak_bytes", c_int64 * OPERATORS_MAX),
                ("needed_bytes", c_int64 * OPERATORS_MAX), ("host_bytes", c_int64), ("free_bytes", c_int64),
                ("host_free_bytes", c_int64), ("fits", c_bool * OPERATORS_MAX),
                ("stabilization_length", c_double), ("many_bytes", c_int64), ("apply_bytes", c_int64),
                ("values_bytes", c_int64), ("table_bytes", c_int64), ("note", c_char_p), ("solution_bytes", c_int64),
                ("dimension", c_int), ("march_bytes", c_int64), ("wave_unknowns", c_int64), ("wave_step", c_double),
                ("wave_steps", c_int64), ("wave_longest", c_double), ("march_step", c_double), ("march_steps", c_int64)]


class BoundaryValue(ctypes.Structure):
    _fields_ = [("group", c_char_p), ("text", c_char_p), ("function", c_void_p), ("user", c_void_p)]


class DeviceValues(ctypes.Structure):
    _fields_ = [("field", c_int), ("order", c_int), ("values", c_void_p)]


class Data(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("source", c_char_p), ("source_function", c_void_p), ("source_user", c_void_p),
                ("n_values", c_int), ("values", POINTER(BoundaryValue)), ("start", c_void_p), ("n_device", c_int),
                ("device", POINTER(DeviceValues)), ("source_by_element", c_void_p)]


class Errors(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("u", c_double), ("u_star", c_double), ("q", c_double), ("sigma", c_double),
                ("energy", c_double)]


class Matrix(ctypes.Structure):
    _fields_ = [("rows", c_int64), ("begin", POINTER(c_int64)), ("column", POINTER(c_int32)),
                ("value", POINTER(c_double))]


class Marched(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("scheme", c_char_p), ("t", c_double), ("step", c_double), ("steps", c_int64),
                ("solves", c_int64), ("iterations", c_int64), ("set_ups", c_int64), ("converged", c_bool),
                ("remakes", c_bool), ("end", c_double), ("seconds", c_double), ("note", c_char_p),
                ("rejected", c_int64), ("change", c_double), ("is_steady", c_bool), ("grown_step", c_int64),
                ("grown_t", c_double)]


class WaveReport(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("system", c_char_p), ("precision", c_char_p), ("backend", c_char_p),
                ("device", c_char_p), ("dimension", c_int), ("order", c_int), ("elements", c_int64), ("edges", c_int64),
                ("vertices", c_int64), ("boundary_edges", c_int64), ("unknowns", c_int64), ("n_fields", c_int),
                ("fields", c_char_p * WAVE_FIELDS_MAX), ("errors", c_double * WAVE_FIELDS_MAX), ("upwind", c_double),
                ("longest", c_double), ("first_energy", c_double), ("energy", c_double), ("stages_done", c_int64),
                ("step_seconds", c_double), ("n_stages", c_int), ("stages", StageReport * STAGES_MAX),
                ("peak_device_bytes", c_int64), ("march", POINTER(Marched)), ("output_error", c_char_p),
                ("kernel", c_char_p), ("note", c_char_p)]


class SteadyFunction(ctypes.Structure):
    _fields_ = [("function", c_void_p), ("user", c_void_p)]


# The C names of what has another one here, for the test.
STRUCTURES = {"kedge_progress": Progress, "kedge_context_options": ContextOptions, "kedge_mesh_arrays": MeshArrays,
              "kedge_space_arrays": SpaceArrays, "kedge_mesh_info": MeshInfo,
              "kedge_mesh_group": MeshGroup, "kedge_points": Points, "kedge_setting": Setting,
              "kedge_stage_report": StageReport, "kedge_group_values": GroupValues,
              "kedge_region_values": RegionValues, "kedge_balance": Balance, "kedge_report": Report, "kedge_plan": Plan,
              "kedge_boundary_value": BoundaryValue, "kedge_device_values": DeviceValues, "kedge_data": Data,
              "kedge_errors": Errors, "kedge_matrix": Matrix,
              "kedge_marched": Marched, "kedge_wave_report": WaveReport,
              "kedge_integral_value": IntegralValue, "kedge_integral_options": IntegralOptions}

PROGRESS_FUNCTION = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Points), c_void_p)

P, S, OUT = c_void_p, c_char_p, POINTER(c_void_p)
FUNCTIONS = {
    "kedge_version": (S,),
    "kedge_status_text": (S, c_int),
    "kedge_context_create": (c_int, POINTER(ContextOptions), OUT),
    "kedge_context_destroy": (None, P),
    "kedge_context_error": (S, P),
    "kedge_context_backend": (c_int, P),
    "kedge_context_device": (S, P),
    "kedge_context_reason": (S, P),
    "kedge_context_set_progress": (None, P, PROGRESS_FUNCTION, P),
    "kedge_context_set_progress_interval": (None, P, c_double),
    "kedge_mesh_create": (c_int, P, POINTER(MeshArrays), OUT),
    "kedge_mesh_create_space": (c_int, P, POINTER(SpaceArrays), OUT),
    "kedge_mesh_read": (c_int, P, S, OUT),
    "kedge_mesh_refine": (c_int, P, P, c_int, OUT),
    "kedge_mesh_join": (c_int, P, P, c_double, OUT),
    "kedge_mesh_write": (c_int, P, P, S, c_bool),
    "kedge_mesh_destroy": (None, P),
    "kedge_mesh_get_info": (c_int, P, POINTER(MeshInfo)),
    "kedge_mesh_group_count": (c_int, P),
    "kedge_mesh_get_group": (c_int, P, c_int, POINTER(MeshGroup)),
    "kedge_mesh_offsets": (c_int, P, P),
    "kedge_mesh_nodes": (c_int, P, P),
    "kedge_mesh_corners": (c_int, P, P),
    "kedge_mesh_regions": (c_int, P, P),
    "kedge_mesh_boundary": (c_int, P, P, P, P),
    "kedge_problem_create": (c_int, P, OUT),
    "kedge_problem_read": (c_int, P, S, POINTER(S), c_int, OUT),
    "kedge_problem_write": (c_int, P, S),
    "kedge_problem_destroy": (None, P),
    "kedge_problem_set": (c_int, P, S, S, S),
    "kedge_problem_set_all": (c_int, P, c_int, POINTER(Setting)),
    "kedge_problem_assign": (c_int, P, P),
    "kedge_by_element": (None, P, POINTER(Points), P),
    "kedge_by_element_device": (None, P, POINTER(Points), P),
    "kedge_steady": (None, P, POINTER(Points), P),
    "kedge_by_solution": (None, P, POINTER(Points), P),
    "kedge_solution_at": (c_int, P, c_int, POINTER(Points), P),
    "kedge_problem_setting_count": (c_int, P),
    "kedge_problem_get_setting": (c_int, P, c_int, POINTER(S), POINTER(S), POINTER(S)),
    "kedge_problem_mesh": (c_int, P, OUT),
    "kedge_problem_mesh_file": (S, P),
    "kedge_problem_integral": (S, P, c_int),
    "kedge_problem_output": (S, P),
    "kedge_plan_make": (c_int, P, P, P, POINTER(Plan)),
    "kedge_stop_name": (S, c_int),
    "kedge_solve": (c_int, P, P, P, OUT),
    "kedge_solver_create": (c_int, P, P, P, OUT),
    "kedge_solver_destroy": (None, P),
    "kedge_solver_solve": (c_int, P, POINTER(Data), OUT),
    "kedge_solver_solve_many": (c_int, P, c_int, POINTER(POINTER(Data)), OUT),
    "kedge_solver_update": (c_int, P),
    "kedge_solver_plan": (c_int, P, P, P, POINTER(Plan)),
    "kedge_solver_report": (c_int, P, POINTER(Report)),
    "kedge_solver_edges": (c_int, P, P),
    "kedge_solver_apply": (c_int, P, P, P),
    "kedge_solver_apply_device": (c_int, P, P, P),
    "kedge_solver_precondition": (c_int, P, P, P),
    "kedge_solver_precondition_device": (c_int, P, P, P),
    "kedge_solver_rhs": (c_int, P, POINTER(Data), P),
    "kedge_solver_rhs_device": (c_int, P, POINTER(Data), P),
    "kedge_solver_recover": (c_int, P, POINTER(Data), P, OUT),
    "kedge_solver_recover_device": (c_int, P, POINTER(Data), P, OUT),
    "kedge_solver_matrix": (c_int, P, OUT),
    "kedge_matrix_destroy": (None, P),
    "kedge_march_create": (c_int, P, P, P, OUT),
    "kedge_march_destroy": (None, P),
    "kedge_march_plan": (c_int, P, P, P, POINTER(Plan)),
    "kedge_march_time": (c_double, P),
    "kedge_march_ended": (c_bool, P),
    "kedge_march_step": (c_int, P),
    "kedge_march_hit": (c_int, P, c_double),
    "kedge_march_solution": (c_int, P, P),
    "kedge_march_data": (c_int, P, POINTER(Data)),
    "kedge_march_update": (c_int, P),
    "kedge_march_report": (c_int, P, POINTER(Marched)),
    "kedge_march_save": (c_int, P, S),
    "kedge_march_restore": (c_int, P, P, P, S, OUT),
    "kedge_march_order": (c_int, P),
    "kedge_march_longest": (c_double, P),
    "kedge_march_kernel": (S, P),
    "kedge_march_note": (S, P),
    "kedge_march_field": (S, P, c_int),
    "kedge_march_values": (c_int, P, S, c_int, P),
    "kedge_march_values_device": (c_int, P, S, c_int, P),
    "kedge_march_nodes": (c_int, P, c_int, P),
    "kedge_march_probe_values": (c_int, P, P, S, P),
    "kedge_march_energy": (c_int, P, POINTER(c_double)),
    "kedge_march_energy_of": (c_int, P, S, POINTER(c_double)),
    "kedge_march_error": (c_int, P, S, POINTER(c_double)),
    "kedge_march_write": (c_int, P, S),
    "kedge_march_wave_report": (c_int, P, POINTER(WaveReport)),
    "kedge_wave_report_write": (c_int, P, POINTER(WaveReport), S),
    "kedge_solution_destroy": (None, P),
    "kedge_solution_report": (c_int, P, POINTER(Report)),
    "kedge_solution_means": (c_int, P, c_int, P),
    "kedge_solution_offsets": (c_int, P, c_int, P),
    "kedge_solution_nodes": (c_int, P, c_int, P),
    "kedge_solution_values": (c_int, P, c_int, c_int, P),
    "kedge_solution_trace": (c_int, P, P, P),
    "kedge_solution_errors": (c_int, P, P, c_int, POINTER(Errors)),
    "kedge_solution_indicator": (c_int, P, P),
    "kedge_integral_create": (c_int, P, P, POINTER(IntegralOptions), OUT),
    "kedge_integral_evaluate": (c_int, P, P, POINTER(c_double)),
    "kedge_integral_destroy": (None, P),
    "kedge_locator_create": (c_int, P, P, OUT),
    "kedge_locator_destroy": (None, P),
    "kedge_locator_bytes": (c_int64, P),
    "kedge_locator_keep": (c_int, P, c_int64, P, P),
    "kedge_locator_values": (c_int, P, c_int, P, c_int64, P, P, P),
    "kedge_locator_values_space": (c_int, P, c_int, P, c_int64, P, P, P, P),
    "kedge_solution_write": (c_int, P, S),
    "kedge_solution_write_boundary": (c_int, P, S),
    "kedge_probe_create": (c_int, P, P, c_int64, P, P, OUT),
    "kedge_probe_create_space": (c_int, P, P, c_int64, P, P, P, OUT),
    "kedge_probe_destroy": (None, P),
    "kedge_probe_count": (c_int64, P),
    "kedge_probe_outside": (c_int64, P),
    "kedge_probe_values": (c_int, P, P, c_int, P),
    "kedge_probe_write": (c_int, P, P, S),
    "kedge_problem_probe_count": (c_int, P),
    "kedge_problem_probe_name": (S, P, c_int),
    "kedge_problem_probe_file": (S, P, c_int),
    "kedge_problem_probe_create": (c_int, P, P, P, c_int, OUT),
    "kedge_output_read": (c_int, P, S, S, POINTER(c_int64), P),
    "kedge_report_write": (c_int, P, POINTER(Report), S),
}


def no_wait_policy():
    """Whether the environment leaves it to libgomp how long threads that wait are awake."""
    return not os.environ.get("OMP_WAIT_POLICY") and not os.environ.get("GOMP_SPINCOUNT")


def _load():
    path = os.environ.get("KEDGE_LIBRARY") or str(pathlib.Path(__file__).with_name("libkedge.so"))
    # Threads that wait turn on their cores for milliseconds, unless libgomp finds another number when it is loaded: that
    # of the command (src/cli/launch.c). Programs that are started from here decide for themselves.
    sets = no_wait_policy()
    if sets:
        os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"the library of kedge cannot be loaded ({error}); install kedge with `pip install .` from "
                          "its folder, or set KEDGE_LIBRARY to a libkedge.so that is built") from error
    finally:
        if sets:
            del os.environ["GOMP_SPINCOUNT"]
    for name, (result, *arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is of another version of kedge than its Python package; "
                              "build or install both anew") from None
        function.restype, function.argtypes = result, arguments
    return library


library = _load()
