#include "march/schemes.h"

#include <stddef.h>

#define ROOT_2 1.41421356237309504880168872420969807856967187537694
#define GAMMA  (1.0 - 0.5 * ROOT_2)

const kg_tableau kg_tableau_euler = {
    .name = "euler", .order = 1, .n_stages = 1, .gamma = 1.0, .c = {1.0}};

static const kg_tableau sdirk2 = {.name = "sdirk2",
                                  .order = 2,
                                  .n_stages = 2,
                                  .gamma = GAMMA,
                                  .c = {GAMMA, 1.0},
                                  .a = {{0.0}, {1.0 - GAMMA}}};

const kg_tableau kg_tableau_trbdf2 = {.name = "trbdf2",
                                      .order = 2,
                                      .n_stages = 3,
                                      .explicit_first = true,
                                      .gamma = GAMMA,
                                      .c = {0.0, 2.0 * GAMMA, 1.0},
                                      .a = {{0.0}, {GAMMA}, {0.25 * ROOT_2, 0.25 * ROOT_2}},
                                      .first = &sdirk2};

static const kg_tableau sdirk4 = {.name = "sdirk4",
                                  .order = 4,
                                  .n_stages = 5,
                                  .gamma = 0.25,
                                  .c = {0.25, 0.75, 11.0 / 20.0, 0.5, 1.0},
                                  .a = {{0.0},
                                        {0.5},
                                        {17.0 / 50.0, -1.0 / 25.0},
                                        {371.0 / 1360.0, -137.0 / 2720.0, 15.0 / 544.0},
                                        {25.0 / 24.0, -49.0 / 48.0, 125.0 / 16.0, -85.0 / 12.0}}};

const kg_tableau kg_tableau_esdirk4 = {
    .name = "esdirk4",
    .order = 4,
    .n_stages = 6,
    .explicit_first = true,
    .gamma = 0.25,
    .c = {0.0, 0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0},
    .a = {{0.0},
          {0.25},
          {8611.0 / 62500.0, -1743.0 / 31250.0},
          {5012029.0 / 34652500.0, -654441.0 / 2922500.0, 174375.0 / 388108.0},
          {15267082809.0 / 155376265600.0, -71443401.0 / 120774400.0, 730878875.0 / 902184768.0,
           2285395.0 / 8070912.0},
          {82889.0 / 524892.0, 0.0, 15625.0 / 83664.0, 69875.0 / 102672.0, -2260.0 / 8211.0}},
    .first = &sdirk4};
