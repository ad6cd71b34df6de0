"""Poses as `ssh` to a machine whose processes are not ours.

    far.py listen SOCKET COMMAND...    runs the command for whoever connects
    far.py connect SOCKET              stands between stdin, stdout and that
"""

import os
import socket
import subprocess
import sys
import threading


def listen(path, command):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    while True:
        connection, _ = server.accept()
        subprocess.Popen(command, stdin=connection, stdout=connection)
        connection.close()


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)

    def up():
        while data := os.read(0, 65536):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=up, daemon=True).start()
    while data := connection.recv(65536):
        os.write(1, data)


if sys.argv[1] == "listen":
    listen(sys.argv[2], sys.argv[3:])
else:
    connect(sys.argv[2])
