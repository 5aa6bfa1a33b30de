import type { Fact } from './fact.ts'

const file = '/etc/resolv.conf'
/** systemd-resolved keeps the true servers here, whatever else it shows to programs. */
const behindStub = '/run/systemd/resolve/resolv.conf'

export const resolver: Fact<'resolver'> = async ({ readFile, readLink }) => {
  const [shown, link, behind] = await Promise.all([readFile(file), readLink(file), readFile(behindStub)])
  const servers = parseServers(shown ?? '')
  const systemdResolved = isStub(servers) || (link ?? '').includes('/run/systemd/resolve/')
  if (!isStub(servers) || behind === undefined) return { file, servers, systemdResolved }
  return { file: behindStub, servers: parseServers(behind), systemdResolved }
}

/** As resolv.conf(5) has it: the word is at the very beginning of a line. */
export function parseServers(text: string): string[] {
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].map(([, server = '']) => server)
}

/** The addresses on which only systemd-resolved listens, and only for the host itself. */
function isStub(servers: readonly string[]): boolean {
  return servers.length > 0 && servers.every((server) => server === '127.0.0.53' || server === '127.0.0.54')
}
