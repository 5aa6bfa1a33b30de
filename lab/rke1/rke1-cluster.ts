import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { settleAll } from '../../src/kit/concurrency.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { labKubeconfigPath } from '../bench/bare-cluster.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { assignRoles, listHostNames, parseShape } from '../cluster/shape.ts'
import { buildComponents } from '../components/build.ts'
import { selectParts } from '../components/parts.ts'
import type { Host } from '../hosts/host.ts'
import type { Lab } from '../hosts/lab.ts'
import type { Report } from '../report.ts'
import {
  renderDockerConfig,
  renderRkeConfig,
  type Rke1Network,
  type RkeConfigOptions,
  runcWrapper,
  runcWrapperPath,
} from './config.ts'

export interface Rke1ClusterOptions extends RkeConfigOptions {
  readonly shape: string
  /** Address of a mirror that has the images of RKE1. */
  readonly mirror: string
  readonly cache: string
  readonly report: Report
  readonly signal: AbortSignal
}

export interface Rke1Cluster {
  readonly hosts: readonly Host[]
  /** Directory of RKE1's cluster.yml, cluster.rkestate and kubeconfig. */
  readonly directory: string
  /** Runs rke with the cluster.yml. */
  readonly rke: (command: 'up') => Promise<CommandResult>
}

/** The part with rke and the images of its clusters. */
const rke1Part = 'rke1'

/** Lists the parts whose images a cluster of RKE1 with this pod network pulls. */
export function listRke1Parts(network: Rke1Network): readonly string[] {
  return [rke1Part, ...(network === 'canal' ? ['calico'] : [])]
}

/**
 * Starts hosts with Docker and lets the unmodified rke turn them into a cluster. rke waits until all nodes are
 * ready. The port check is left out, because it needs programs that busybox does not have.
 */
export async function startRke1Cluster(lab: Lab, options: Rke1ClusterOptions): Promise<Rke1Cluster> {
  const { mirror, cache, report, signal } = options
  const shape = parseShape(options.shape)
  const [built] = await buildComponents(selectParts([rke1Part]), { cache, report })
  if (built === undefined) throw new Error(`there is no part ${rke1Part}`)
  const hosts = await lab.up(listHostNames(shape), { docker: true })
  await settleAll(hosts.map(async (host) => prepareDocker(host, mirror, lab.gateway, signal)))
  const directory = join(lab.directory, 'rke1')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = join(directory, 'cluster.yml')
  await writeFile(file, renderRkeConfig(assignRoles(shape, hosts), options), { mode: 0o600 })
  const rke: Rke1Cluster['rke'] = async (command) =>
    report.step(`rke ${command}, ${options.shape}`, async (note) =>
      runProgram([join(built.directory, 'rke'), command, '--config', file, '--disable-port-check'], {
        cwd: directory,
        signal,
        onLine: note,
      }),
    )
  await rke('up')
  const kubeconfig = labKubeconfigPath(lab)
  await copyFile(join(directory, 'kube_config_cluster.yml'), kubeconfig)
  const kubectl = [join(built.directory, 'kubectl'), '--kubeconfig', kubeconfig] as const
  // Without these pods, no other pod starts. Their images are pulled only while the mirror runs.
  const pods = ['pod', '--namespace', 'kube-system', '--selector', 'k8s-app in (canal, flannel, kube-dns)']
  await report.step('network and DNS', async (note) =>
    runProgram([...kubectl, 'wait', ...pods, '--for=condition=Ready', '--timeout=600s'], {
      signal,
      onLine: note,
    }),
  )
  return { hosts, directory, rke }
}

/**
 * Configures Docker and waits until it accepts commands. The host gets a nameserver, as real hosts have one.
 * Without one, Docker gives containers a public nameserver and containerd gives none, and CoreDNS exits.
 */
async function prepareDocker(
  host: Host,
  mirror: string,
  nameserver: string,
  signal: AbortSignal,
): Promise<void> {
  await sendFiles(host, {
    'etc/resolv.conf': `nameserver ${nameserver}\n`,
    'etc/docker/daemon.json': renderDockerConfig(mirror),
    [runcWrapperPath.slice(1)]: runcWrapper,
    'etc/sysctl.d/90-kubernetes.conf': 'net.ipv4.ip_forward = 1\n',
  })
  await host.script(
    `sysctl -qp /etc/sysctl.d/90-kubernetes.conf
systemctl restart docker
docker version --format '{{.Server.Version}}'`,
    { signal },
  )
}
