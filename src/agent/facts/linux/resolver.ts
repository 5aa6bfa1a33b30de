import type { Fact } from './fact.ts'

const file = '/etc/resolv.conf'
/** systemd-resolved writes the upstream servers here, whatever it shows to programs. */
const resolvedFile = '/run/systemd/resolve/resolv.conf'

export const readResolver: Fact<'resolver'> = async ({ readFile, readLink }) => {
  const [shown, link, upstream] = await Promise.all([readFile(file), readLink(file), readFile(resolvedFile)])
  const servers = parseServers(shown ?? '')
  const systemdResolved = isStub(servers) || (link ?? '').includes('/run/systemd/resolve/')
  if (!isStub(servers) || upstream === undefined) return { file, servers, systemdResolved }
  return { file: resolvedFile, servers: parseServers(upstream), systemdResolved }
}

/** As in resolv.conf(5), the keyword must be at the start of a line. */
export function parseServers(text: string): string[] {
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].map(([, server = '']) => server)
}

/** Addresses on which only systemd-resolved listens, and only for the host itself. */
function isStub(servers: readonly string[]): boolean {
  return servers.length > 0 && servers.every((server) => server === '127.0.0.53' || server === '127.0.0.54')
}
