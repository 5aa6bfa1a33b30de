import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { runBench } from '../../lab/bench/run-bench.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectVersions, type Versions } from '../../lab/cluster/artifacts.ts'
import type { Access } from '../../lab/cluster/contender.ts'
import { parseShape } from '../../lab/cluster/shape.ts'
import { selectParts } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import { kubeadm } from '../../lab/kubeadm/kubeadm.ts'
import { openMirror } from '../../lab/mirror/open-mirror.ts'
import { silentReport } from '../../lab/report.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { openFreshLab } from './lab.ts'

export interface KubeadmClusterOptions {
  /** Name of the lab. */
  readonly name: string
  readonly shape: string
  readonly version: Versions['kubernetes']
  /** Path of the hyperkube executable. */
  readonly executable: string
}

/** A cluster that kubeadm created, and an operator with hyperkube. */
export interface KubeadmCluster extends AsyncDisposable {
  readonly hosts: readonly Host[]
  readonly access: Access
  /** Directory of the operator. */
  readonly directory: string
  readonly path: (name: string) => string
  readonly hyperkube: (...args: readonly string[]) => Promise<CommandResult>
  /** Runs `adopt --from-kubeadm` with these hosts. */
  readonly adopt: (named: readonly Host[], ...args: readonly string[]) => Promise<CommandResult>
  /** Lets the written cluster.yml use the mirror of the lab, and writes its lock. */
  readonly lock: () => Promise<CommandResult>
}

export async function createKubeadmCluster(options: KubeadmClusterOptions): Promise<KubeadmCluster> {
  const { name, shape, version, executable } = options
  const versions = selectVersions(version)
  // Parts that kubeadm and the lock of the adopted cluster need.
  const parts = selectParts([
    ...[`kubernetes@${version}`, `etcd@${versions.etcd}`, `pause@${versions.pause}`, 'containerd', 'runc'],
    ...['cni-plugins', 'flannel', 'kube-router', 'crictl', 'agnhost'],
  ])
  const lab = await openFreshLab(name)
  const directory = await mkdtemp(join(tmpdir(), `${name}-`))
  const mirror = await openMirror(lab, { parts, cache: cacheDirectory(), report: silentReport, port: 0 })
  const dispose = async (): Promise<void> => {
    await mirror.close()
    await lab.down()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const { access } = await runBench({
      contender: kubeadm,
      shape: parseShape(shape),
      lab,
      mirror: mirror.address,
      versions,
    })
    const hosts = await lab.hosts()
    await writeKnownHosts(directory, hosts)
    const path = (file: string): string => join(directory, file)
    const hyperkube: KubeadmCluster['hyperkube'] = async (...args) => {
      const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
      return runProgram([executable, ...args], { env, allowFailure: true })
    }
    const file = path('cluster.yml')
    return {
      hosts,
      access,
      directory,
      path,
      hyperkube,
      adopt: async (named, ...args) =>
        hyperkube(
          'adopt',
          '--from-kubeadm',
          ...named.flatMap(({ address }) => ['--host', `root@${address}`]),
          ...['--ssh-key', named[0]?.ssh.keyFile ?? '', '-f', file, '--name', 'shop', ...args],
        ),
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
