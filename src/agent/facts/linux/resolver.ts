import type { Fact } from './fact.ts'

const file = '/etc/resolv.conf'
/**
 * File in which systemd-resolved lists the upstream servers. /etc/resolv.conf may name only its local stub.
 */
const resolvedFile = '/run/systemd/resolve/resolv.conf'

export const readResolver: Fact<'resolver'> = async ({ readFile, readLink }) => {
  const [shown, link, upstream] = await Promise.all([readFile(file), readLink(file), readFile(resolvedFile)])
  const servers = parseServers(shown ?? '')
  const systemdResolved = isStub(servers) || (link ?? '').includes('/run/systemd/resolve/')
  if (!isStub(servers) || upstream === undefined) return { file, servers, systemdResolved }
  return { file: resolvedFile, servers: parseServers(upstream), systemdResolved }
}

/** Lists the name servers. As in resolv.conf(5), the keyword must be at the start of a line. */
export function parseServers(text: string): string[] {
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].map(([, server = '']) => server)
}

/** True if all servers are stub addresses of systemd-resolved, which respond only on the host itself. */
function isStub(servers: readonly string[]): boolean {
  return servers.length > 0 && servers.every((server) => server === '127.0.0.53' || server === '127.0.0.54')
}
