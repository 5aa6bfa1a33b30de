import { readFile } from 'node:fs/promises'
import { inject } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { type Facts, factsFormat } from '../../src/contract/facts.ts'
import { settleAll } from '../../src/kit/concurrency.ts'

/** Installs the hyperkube executable in /usr/local/bin of the hosts. */
export async function installProgram(hosts: readonly Host[]): Promise<void> {
  const input = await readFile(inject('executable'))
  const argv = ['install', '-m', '755', '/dev/stdin', '/usr/local/bin/hyperkube'] as const
  await settleAll(hosts.map(async (host) => host.exec([...argv], { input })))
}

/** Runs `hyperkube facts` on a host that has the program. */
export async function readFacts(host: Host): Promise<Facts> {
  const { stdout } = await host.exec(['hyperkube', 'facts', '--host', host.name, '-o', 'json'])
  return factsFormat.newest.schema.parse(JSON.parse(stdout))
}
