import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseDocument } from 'yaml'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { rke1Versions, selectParts } from '../../lab/components/parts.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import { openMirror } from '../../lab/mirror/open-mirror.ts'
import { silentReport } from '../../lab/report.ts'
import { type Rke1Cluster as LabCluster, rke1Part, startRke1Cluster } from '../../lab/rke1/rke1-cluster.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { openFreshLab } from './lab.ts'

export interface Rke1ClusterOptions {
  /** Name of the lab. */
  readonly name: string
  readonly shape: string
  /** Path of the hyperkube executable. */
  readonly executable: string
}

/** A cluster that RKE1 created, and an operator with hyperkube. */
export interface Rke1Cluster extends LabCluster, AsyncDisposable {
  readonly api: Credentials
  readonly path: (name: string) => string
  readonly hyperkube: (...args: readonly string[]) => Promise<CommandResult>
  /** Runs `adopt --from-rke`. */
  readonly adopt: (...args: readonly string[]) => Promise<CommandResult>
  /** Lets the written cluster.yml use the mirror of the lab, and writes its lock. */
  readonly lock: () => Promise<CommandResult>
}

export async function createRke1Cluster({
  name,
  shape,
  executable,
}: Rke1ClusterOptions): Promise<Rke1Cluster> {
  const { etcd, pause, kubernetes } = selectVersions(rke1Versions.kubernetes)
  // Parts that RKE1 and the lock of the adopted cluster need.
  const parts = selectParts([
    ...[rke1Part, `kubernetes@${kubernetes}`, `etcd@${etcd}`, `pause@${pause}`, 'containerd', 'runc'],
    ...['cni-plugins', 'flannel', 'kube-router', 'crictl'],
  ])
  const lab = await openFreshLab(name)
  const directory = await mkdtemp(join(tmpdir(), `${name}-`))
  const cache = cacheDirectory()
  const mirror = await openMirror(lab, { parts, cache, report: silentReport, port: 0 })
  const dispose = async (): Promise<void> => {
    await mirror.close()
    await lab.down()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const options = { shape, mirror: mirror.address, cache, report: silentReport }
    const cluster = await startRke1Cluster(lab, { ...options, signal: new AbortController().signal })
    const path = (file: string): string => join(directory, file)
    for (const [from, to] of Object.entries(rkeFiles)) await copyFile(join(cluster.directory, from), path(to))
    await writeKnownHosts(directory, cluster.hosts)
    const hyperkube: Rke1Cluster['hyperkube'] = async (...args) => {
      const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
      return runProgram([executable, ...args], { env, allowFailure: true })
    }
    const file = path('cluster.yml')
    return {
      ...cluster,
      api: readCredentials(await readFile(path('kube_config_rke.yml'), 'utf8')),
      path,
      hyperkube,
      adopt: async (...args) => hyperkube('adopt', '--from-rke', path('rke.yml'), '-f', file, ...args),
      async lock() {
        const document = parseDocument(await readFile(file, 'utf8'))
        document.setIn(['spec', 'artifacts'], { mirror: mirror.address, digests: 'mirror' })
        document.setIn(
          ['spec', 'registries'],
          ['registry.k8s.io', 'docker.io'].map((host) => ({ host, mirrors: [mirror.address] })),
        )
        await writeFile(file, document.toString())
        return hyperkube('lock', '-f', file)
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Files of RKE1, and their names in the directory of the operator. */
const rkeFiles = {
  'cluster.yml': 'rke.yml',
  'cluster.rkestate': 'rke.rkestate',
  'kube_config_cluster.yml': 'kube_config_rke.yml',
} as const

const kubeconfig = z.looseObject({
  clusters: z.tuple([
    z.looseObject({ cluster: z.looseObject({ 'certificate-authority-data': z.string() }) }),
  ]),
  users: z.tuple([
    z.looseObject({
      user: z.looseObject({ 'client-certificate-data': z.string(), 'client-key-data': z.string() }),
    }),
  ]),
})

/** Reads the credentials of the administrator from the kubeconfig that RKE1 wrote. */
function readCredentials(text: string): Credentials {
  const {
    clusters: [{ cluster }],
    users: [{ user }],
  } = kubeconfig.parse(parse(text))
  const decode = (value: string): string => Buffer.from(value, 'base64').toString()
  return {
    ca: decode(cluster['certificate-authority-data']),
    certificate: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  }
}
