import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { clusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { until } from '../../src/kit/poll-until.ts'
import { labMirror } from './lab-mirror.ts'
import { freshLab } from './lab.ts'
import { screen } from './screen.ts'
import { type Seen, Typist } from './terminal.ts'

export const kubernetes = '1.36.4'
/** What depends on the machine that the lab is on. */
const ofTheLab = ['HOST_CGROUP_V1', 'HOST_NO_RESOLVER', 'HOST_MEMORY_SMALL', 'HOST_CPU_SMALL']
export const up = ['up', '--yes', '--ignore', ofTheLab.join(',')] as const

/** As they were read, each by the name of what was wrong. */
const screens = join(import.meta.dirname, '../e2e/testdata/faults')

/** A person at a terminal, with hosts about which something is wrong. */
export class FaultScene implements AsyncDisposable {
  readonly lab: Lab
  readonly hosts: readonly Host[]
  readonly mirror: Mirror
  /** Where commands are typed, beside cluster.yml. */
  readonly directory: string
  /** What is here is served instead of what the mirror has. */
  readonly over: string
  readonly program: string
  readonly typist: Typist

  private constructor(lab: Lab, hosts: readonly Host[], mirror: Mirror, directory: string, program: string) {
    this.lab = lab
    this.hosts = hosts
    this.mirror = mirror
    this.directory = directory
    this.over = overIn(directory)
    this.program = program
    this.typist = new Typist(program, directory)
  }

  static async open(name: string, hostNames: readonly string[]): Promise<FaultScene> {
    const lab = await freshLab(name)
    const hosts = await lab.up(hostNames, { disk: 'loop', diskGigabytes: 12 })
    const directory = await mkdtemp(join(tmpdir(), 'faults-'))
    await mkdir(overIn(directory))
    const mirror = await labMirror(lab, { over: overIn(directory) })
    return new FaultScene(lab, hosts, mirror, directory, inject('executable'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.mirror.close()
      await rm(this.directory, { recursive: true, force: true })
    } finally {
      await this.lab.down()
    }
  }

  host(name: string): Host {
    const found = this.hosts.find((host) => host.name === name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  /** Writes cluster.yml as it should be, but for some settings. */
  async describeCluster(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const document = parseDocument(stringify(clusterDocument(kubernetes, this.mirror.address, this.hosts)))
    for (const [path, value] of Object.entries(settings)) document.setIn(path.split('.'), value)
    await writeFile(join(this.directory, 'cluster.yml'), String(document))
  }
}

export async function expectScreen(
  { directory }: FaultScene,
  name: string,
  code: number,
  seen: Seen,
): Promise<void> {
  await expect(screen(seen, directory)).toMatchFileSnapshot(join(screens, `${name}.txt`))
  expect(seen.code).toBe(code)
}

function overIn(directory: string): string {
  return join(directory, 'over')
}

export async function isActive(host: Host, service: string): Promise<void> {
  await until(
    `${service} on ${host.name}`,
    async () => (await host.exec(['systemctl', 'is-active', service], { allowFailure: true })).code === 0,
    { within: 120_000 },
  )
}

export async function apiAnswers(host: Host): Promise<void> {
  await until(
    `the API server of ${host.name}`,
    async () => {
      const url = 'https://127.0.0.1:6443/readyz'
      return (await host.exec(['curl', '-sk', url], { allowFailure: true })).stdout === 'ok'
    },
    { within: 120_000 },
  )
}
