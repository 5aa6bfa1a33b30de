import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { buildClusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { openLabMirror } from './lab-mirror.ts'
import { openFreshLab } from './lab.ts'
import { type CommandOutput, Terminal } from './terminal.ts'

export const kubernetes = '1.36.4'
/** Codes of findings that depend on the machine that runs the lab. `up` ignores them. */
export const labFindings = ['HOST_CGROUP_V1', 'HOST_NO_RESOLVER', 'HOST_MEMORY_SMALL', 'HOST_CPU_SMALL']
export const upArgs = ['up', '--yes', '--ignore', labFindings.join(',')] as const

/** Directory of the golden outputs, with one file for each fault. */
const goldenDirectory = join(import.meta.dirname, '../e2e/testdata/faults')

/** Lab hosts for fault tests, and a terminal to run commands. */
export class FaultLab implements AsyncDisposable {
  readonly lab: Lab
  readonly hosts: readonly Host[]
  readonly mirror: Mirror
  /** Working directory of commands, with cluster.yml. */
  readonly directory: string
  /** Directory with files that the mirror serves instead of its own. */
  readonly overrides: string
  readonly program: string
  readonly terminal: Terminal

  private constructor(lab: Lab, hosts: readonly Host[], mirror: Mirror, directory: string, program: string) {
    this.lab = lab
    this.hosts = hosts
    this.mirror = mirror
    this.directory = directory
    this.overrides = formatOverlayPath(directory)
    this.program = program
    this.terminal = new Terminal(program, directory)
  }

  static async open(name: string, hostNames: readonly string[]): Promise<FaultLab> {
    const lab = await openFreshLab(name)
    const hosts = await lab.up(hostNames, { disk: 'loop', diskGigabytes: 12 })
    const directory = await mkdtemp(join(tmpdir(), 'faults-'))
    await writeKnownHosts(directory, hosts)
    await mkdir(formatOverlayPath(directory))
    const mirror = await openLabMirror(lab, { overrides: formatOverlayPath(directory) })
    return new FaultLab(lab, hosts, mirror, directory, inject('executable'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.mirror.close()
      await rm(this.directory, { recursive: true, force: true })
    } finally {
      await this.lab.down()
    }
  }

  getHost(name: string): Host {
    const found = this.hosts.find((host) => host.name === name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  /** Writes a valid cluster.yml with some settings changed. */
  async writeClusterYaml(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const document = parseDocument(
      stringify(buildClusterDocument(kubernetes, this.mirror.address, this.hosts)),
    )
    for (const [path, value] of Object.entries(settings)) document.setIn(path.split('.'), value)
    await writeFile(join(this.directory, 'cluster.yml'), String(document))
  }
}

export async function expectGoldenOutput(
  { directory }: FaultLab,
  name: string,
  code: number,
  output: CommandOutput,
): Promise<void> {
  await expect(normalizeOutput(output, directory)).toMatchFileSnapshot(join(goldenDirectory, `${name}.txt`))
  expect(output.code).toBe(code)
}

function formatOverlayPath(directory: string): string {
  return join(directory, 'over')
}

export async function waitForActiveService(host: Host, service: string): Promise<void> {
  await pollUntil(
    `${service} on ${host.name}`,
    async () => (await host.exec(['systemctl', 'is-active', service], { allowFailure: true })).code === 0,
    { timeoutMs: 120_000 },
  )
}

export async function waitForApi(host: Host): Promise<void> {
  await pollUntil(
    `the API server of ${host.name}`,
    async () => {
      const url = 'https://127.0.0.1:6443/readyz'
      return (await host.exec(['curl', '-sk', url], { allowFailure: true })).stdout === 'ok'
    },
    { timeoutMs: 120_000 },
  )
}

/**
 * Makes output the same on every machine and release: removes times, addresses, digests, versions and sizes.
 * It also removes host progress lines, whose order varies.
 */
function normalizeOutput({ args, text, code }: CommandOutput, directory: string): string {
  const shownArgs = args.filter((arg, index) => arg !== '--ignore' && args[index - 1] !== '--ignore')
  const lines = text
    .replaceAll(/^\d\d:\d\d (?:(?:cp|w)\d[:/]|waiting ).*\n/gm, '')
    .replaceAll(/^\d\d:\d\d/gm, '00:00')
    // Suggested commands repeat the arguments of the command, among them `--ignore`.
    .replaceAll(` --ignore ${labFindings.join(',')}`, '')
    .replaceAll(/^ {2}\+ .*$/gm, (line) => line.replaceAll(/\d+/g, 'N'))
    .replaceAll(/\d+ changes?/g, 'N changes')
    .replaceAll(directory, 'DIRECTORY')
    .replaceAll(`${userInfo().username}@${hostname()}`, 'ana@laptop')
    .replaceAll(/\(process \d+\)/g, '(process N)')
    .replaceAll(/[\dT-]+\.\d{3}Z-/g, 'TIME-')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    .replaceAll(/SHA256:[\w+/]{43}/g, 'SHA256:FINGERPRINT')
    .replaceAll(/\d+\.\d+\.\d+\.\d+(?::\d{4,5})?/g, 'ADDRESS')
    .replaceAll(/\d+\.\d+\.\d+(?:-[0-9a-f]{8})?/g, 'VERSION')
    .replaceAll(/\d+ min \d\d s\b|\b\d+(?:\.\d)? m?s\b/g, 'TIME')
    .replaceAll(/ {2,}TIME/g, '  TIME')
    .replaceAll(/\d+(?:\.\d)? [KMG]iB/g, 'SIZE')
  return `$ hyperkube ${shownArgs.join(' ')}\n${lines}exit ${code}\n`
}
