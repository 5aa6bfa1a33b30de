import { readFile } from 'node:fs/promises'
import { inject } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { type Facts, factsFormat } from '../../src/contract/facts.ts'
import { settleAll } from '../../src/kit/settle-all.ts'

/** Puts hyperkube itself on hosts, as one executable, where a shell finds it. */
export async function installProgram(hosts: readonly Host[]): Promise<void> {
  const input = await readFile(inject('executable'))
  const argv = ['install', '-m', '755', '/dev/stdin', '/usr/local/bin/hyperkube'] as const
  await settleAll(hosts.map(async (host) => host.exec([...argv], { input })))
}

/** As a host with the program on it tells them. */
export async function factsOf(host: Host): Promise<Facts> {
  const { stdout } = await host.exec(['hyperkube', 'facts', '--host', host.name, '-o', 'json'])
  return factsFormat.newest.schema.parse(JSON.parse(stdout))
}
