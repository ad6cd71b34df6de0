"""llama.cpp's own server, with one model, until it is told to end.

Says `ready` on its first line of stdout when it listens.
"""

import signal
import sys

import xllamacpp

WEIGHTS, PORT, NAME = sys.argv[1], int(sys.argv[2]), sys.argv[3]

parameters = xllamacpp.CommonParams()
parameters.model.path = WEIGHTS
parameters.model_alias = {NAME}
parameters.hostnames = ["127.0.0.1"]
parameters.port = PORT
parameters.n_ctx = 4096
parameters.n_parallel = 1
# Two threads wait for each other in a loop; on a machine with other work that is many times slower.
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.use_jinja = True

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
server = xllamacpp.Server(parameters)
print("ready", flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
