/* Connections to the host and beyond. */
#include "escape.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char **argv)
{
	int kinds[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, 40 /* VSOCK */, 38 /* ALG */, 44 /* XDP */};

	(void)argc;
	(void)argv;
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (int type = SOCK_STREAM; type <= SOCK_RAW; type++)
			TRY({
				int s = socket(kinds[i], type, 0);
				struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)};
				struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/dbus/system_bus_socket"};

				inet_pton(AF_INET, "8.8.8.8", &in.sin_addr);
				if (s >= 0 && kinds[i] == AF_INET && connect(s, (void *)&in, sizeof in) == 0 &&
				    send(s, "x", 1, MSG_NOSIGNAL) == 1)
					ESCAPED("connected to 8.8.8.8, type %d", type);
				if (s >= 0 && kinds[i] == AF_UNIX && connect(s, (void *)&un, sizeof un) == 0)
					ESCAPED("connected to the host's bus");
				if (s >= 0 && kinds[i] >= AF_PACKET)
					ESCAPED("a socket of family %d", kinds[i]);
			});
	return escape_done();
}
