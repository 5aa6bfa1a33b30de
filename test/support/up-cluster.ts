import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { cacheDirectory } from '../../lab/cache.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { parseShape, shapeHosts } from '../../lab/cluster/shape.ts'
import { selectParts } from '../../lab/engine/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { openMirror } from '../../lab/mirror/open.ts'
import { silentReport } from '../../lab/report.ts'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import { privateFiles } from '../../src/identity/files.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'
import { clientOf } from './admin.ts'

/** A cluster made by a person: with the shipped executable, from a cluster.yml, over ssh. */
export interface UpCluster {
  readonly hosts: readonly Host[]
  readonly api: KubeApi
  /** Where cluster.yml and what belongs to it are. */
  readonly directory: string
  /** What `up` said the first time. */
  readonly first: CommandResult
  hyperkube(...words: readonly string[]): Promise<CommandResult>
  close(): Promise<void>
}

export async function upCluster(lab: Lab, shape: string, kubernetes: string): Promise<UpCluster> {
  const hosts = await lab.up(shapeHosts(parseShape(shape)))
  const mirror = await openMirror(lab, {
    parts: selectParts(),
    cache: cacheDirectory(),
    report: silentReport,
    port: 0,
  })
  const directory = await mkdtemp(join(tmpdir(), 'up-'))
  const file = join(directory, 'cluster.yml')
  const program = await buildExecutable(ownTarget(), directory)
  const hyperkube = async (...words: readonly string[]): Promise<CommandResult> =>
    run([program, ...words, '-f', file], {
      env: { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory },
      allowFailure: true,
    })
  await writeFile(file, stringify(clusterDocument(kubernetes, mirror.address, hosts)))
  const first = await lastOf(hyperkube, [['init'], ['lock'], ['up', '--yes']])
  const [any] = hosts
  const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/lab.key'))
  const identity = await readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
  const admin = await clientOf(identity, 'kubernetes', 'test', ['hyperkube:admins'])
  const api = new KubeApi(`https://${any?.address}:6443`, admin)
  return {
    hosts,
    api,
    directory,
    first,
    hyperkube,
    async close() {
      api.close()
      await mirror.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function lastOf(
  hyperkube: UpCluster['hyperkube'],
  commands: readonly (readonly string[])[],
): Promise<CommandResult> {
  const results: CommandResult[] = []
  for (const words of commands) {
    const result = await hyperkube(...words)
    if (result.code !== 0) throw new Error(`${words.join(' ')} ended with ${result.code}: ${result.stderr}`)
    results.push(result)
  }
  const [last] = results.slice(-1)
  if (last === undefined) throw new Error('nothing was run')
  return last
}

function clusterDocument(kubernetes: string, mirror: string, hosts: readonly Host[]): object {
  const [first] = hosts
  const roleOf = ({ name }: Host): string => (name.startsWith('cp') ? 'control-plane' : 'worker')
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'lab' },
    spec: {
      kubernetes,
      artifacts: { mirror },
      registries: [{ host: 'registry.k8s.io', mirrors: [mirror] }],
      // A lab's disk is the machine's own, and may be fuller than a kubelet likes.
      components: {
        kubelet: {
          config: {
            evictionHard: {
              'memory.available': '100Mi',
              'nodefs.available': '1%',
              'imagefs.available': '1%',
            },
          },
        },
      },
      ssh: { user: 'root', key: first?.ssh.keyFile },
      hosts: hosts.map((host) => ({ name: host.name, address: host.address, roles: [roleOf(host)] })),
    },
  }
}
