import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBench } from '../../lab/bench/run-bench.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectVersions, type Versions } from '../../lab/cluster/artifacts.ts'
import type { Access } from '../../lab/cluster/contender.ts'
import { listHostNames, parseShape } from '../../lab/cluster/shape.ts'
import { selectParts } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import { kubeadm } from '../../lab/kubeadm/kubeadm.ts'
import { openMirror } from '../../lab/mirror/open-mirror.ts'
import { silentReport } from '../../lab/report.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { type AdoptingOperator, createAdoptingOperator } from './adoption/adopting-operator.ts'
import { openFreshLab, startHostsOnDisk } from './lab.ts'

export interface KubeadmClusterOptions {
  /** Name of the lab. */
  readonly name: string
  readonly shape: string
  readonly version: Versions['kubernetes']
  /** Path of the hyperkube executable. */
  readonly executable: string
  /** Parts that the mirror serves in addition to those of the adopted cluster. */
  readonly parts?: readonly string[]
  /** True if hosts must survive a power cut. */
  readonly survivesPowerCut?: boolean
}

/** A cluster that kubeadm created, and an operator with hyperkube. */
export interface KubeadmCluster extends AdoptingOperator, AsyncDisposable {
  readonly lab: Lab
  /** Address of the mirror. */
  readonly mirror: string
  readonly hosts: readonly Host[]
  readonly access: Access
  /** Runs `adopt --from-kubeadm` with these hosts. */
  readonly adopt: (named: readonly Host[], ...args: readonly string[]) => Promise<CommandResult>
}

export async function createKubeadmCluster(options: KubeadmClusterOptions): Promise<KubeadmCluster> {
  const { name, shape, version, executable, parts: moreParts = [], survivesPowerCut = false } = options
  const versions = selectVersions(version)
  // Parts that kubeadm and the lock of the adopted cluster need.
  const parts = selectParts([
    ...[`kubernetes@${version}`, `etcd@${versions.etcd}`, `pause@${versions.pause}`, 'containerd', 'runc'],
    ...['cni-plugins', 'flannel', 'kube-router', 'crictl', 'agnhost', ...moreParts],
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
    // `runBench` uses the hosts that already run.
    if (survivesPowerCut) await startHostsOnDisk(lab, listHostNames(parseShape(shape)))
    const { access } = await runBench({
      contender: kubeadm,
      shape: parseShape(shape),
      lab,
      mirror: mirror.address,
      versions,
    })
    const hosts = await lab.hosts()
    await writeKnownHosts(directory, hosts)
    const operator = createAdoptingOperator({
      directory,
      executable,
      mirror: mirror.address,
      clusterName: 'shop',
    })
    const file = operator.path('cluster.yml')
    return {
      ...operator,
      lab,
      mirror: mirror.address,
      hosts,
      access,
      adopt: async (named, ...args) =>
        operator.hyperkube(
          'adopt',
          '--from-kubeadm',
          ...named.flatMap(({ address }) => ['--host', `root@${address}`]),
          ...['--ssh-key', named[0]?.ssh.keyFile ?? '', '-f', file, '--name', 'shop', ...args],
        ),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}
