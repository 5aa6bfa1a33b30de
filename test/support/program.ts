import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host } from '../../lab/hosts/host.ts'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import { type Facts, factsFormat } from '../../src/contract/facts.ts'
import { settleAll } from '../../src/kit/settle.ts'

/** Puts hyperkube itself on hosts, as one executable, where a shell finds it. */
export async function installProgram(hosts: readonly Host[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-'))
  try {
    const input = await readFile(await buildExecutable(ownTarget(), directory))
    const argv = ['install', '-m', '755', '/dev/stdin', '/usr/local/bin/hyperkube'] as const
    await settleAll(hosts.map(async (host) => host.exec([...argv], { input })))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** As a host with the program on it tells them. */
export async function factsOf(host: Host): Promise<Facts> {
  const { stdout } = await host.exec(['hyperkube', 'facts', '--host', host.name, '-o', 'json'])
  return factsFormat.newest.schema.parse(JSON.parse(stdout))
}
