import { expect } from 'vitest'
import { calicoVersion, rke1Versions } from '../../../lab/components/parts.ts'
import type { Host } from '../../../lab/hosts/host.ts'
import type { Rke1Network } from '../../../lab/rke1/config.ts'
import { settleAll } from '../../../src/kit/concurrency.ts'
import { compareStates, type HostState, settingsStates } from '../host-states.ts'
import { createRke1Cluster } from '../rke1-cluster.ts'
import { listInspectedValues } from './container-inspection.ts'
import { type Contender, type ContenderName, requireFirstHost } from './contender.ts'

/** Selects the containers of RKE1, which are not those of pods. */
const containers = "docker ps -aq --filter name='^/(etcd|kube.*|nginx-proxy|service-sidekick)$'"

/** Names of pod networks on pages. */
const networks: Readonly<Record<Rke1Network, string>> = {
  flannel: 'flannel',
  canal: `canal (Calico ${calicoVersion} and flannel ${rke1Versions.flannel})`,
}

export const rke1Contender = defineContender('rke1', 'an RKE1 cluster', 'flannel')
export const rke1CanalContender = defineContender('rke1-canal', 'an RKE1 cluster with canal', 'canal')

function defineContender(tool: ContenderName, title: string, network: Rke1Network): Contender {
  const contender: Contender = {
    name: tool,
    title,
    version: rke1Versions.kubernetes,
    describe: (
      shape,
    ) => `rke v1.8.14, Kubernetes ${rke1Versions.kubernetes}, etcd ${rke1Versions.etcd}, ${shape} hosts of the lab with Debian's
Docker, ${networks[network]} as a DaemonSet of RKE1, Secrets encrypted at rest. The images of RKE1 contain upstream's programs; the scripts
of rke-tools${network === 'flannel' ? ' and the CNI plugin of flannel' : ''} are replaced by those of the lab.`,
    states: {
      ...settingsStates,
      // Docker's shims have arguments of their own. calico-kube-controllers is a pod, which may run on any node.
      'programs of components':
        "ps -eo args | grep -E '[k]ube-|[k]ubelet |[e]tcd |[d]ockerd|[n]ginx: master' | grep -Ev 'shim|entrypoint|kube-controllers' | sort",
      'containers of RKE1': `docker inspect $(${containers}) --format '{{.Name}} {{.Id}} {{.Image}} {{.State.Running}} {{json .HostConfig.RestartPolicy}} {{json .Args}}' | sort`,
    },
    // Files that programs rewrite, and directories of Docker and of CNI plugins, whose names change with each pod or
    // start. The kubeconfig of Calico has a token that is renewed.
    ignored:
      /\/etc\/(?:passwd|shadow|group|gshadow|subuid|subgid)-| \/etc\/\.pwd\.lock|\/etc\/\.updated| \/var\/lib\/(?:docker|cni|cri-dockerd|rancher)\/|[\da-f] {2}\/etc\/cni\/net\.d\/calico-kubeconfig/,
    notCompared: `files that programs for users rewrite (such as /etc/passwd-), /run, /tmp, /var/log, ${network === 'canal' ? 'the token of Calico in /etc/cni/net.d, ' : ''}and the data of
etcd, kubelets, containerd, Docker, CNI plugins and systemd`,
    movedScript:
      'systemctl is-active hyperkube-agent kubelet containerd kube-proxy docker; pgrep -c "^(dockerd|cri-dockerd)" || true',
    movedOutput: 'active\nactive\nactive\nactive\ninactive\n0\n',
    runtime: 'docker',
    recreatesPods: true,
    // flannel of RKE1 comes without an engine for policies.
    enforcesPolicies: network === 'canal',
    serviceAddress: (lastByte) => `10.43.88.${lastByte}`,
    nodeProxies: [{ host: '127.0.0.1', port: 6443 }],
    async create({ name, shape, executable, ...options }) {
      const cluster = await createRke1Cluster({
        ...options,
        name,
        shape,
        executable,
        network,
        encrypted: true,
      })
      const { hosts, mirror, rke, api } = cluster
      const etcdCredentials = await readEtcdCredentials(requireFirstHost(cluster)).catch(
        async (error: unknown) => {
          await cluster[Symbol.asyncDispose]()
          throw error
        },
      )
      const inspectContainers = async (): Promise<ReadonlyMap<string, HostState>> => inspectAll(hosts)
      return {
        ...cluster,
        contender,
        shape,
        credentials: api,
        etcdCredentials,
        adopt: async () => cluster.adopt('--yes', '--no-lock'),
        async loadImages(images) {
          // Docker uses mirrors only for docker.io. Images of other registries are pulled by the name of the mirror.
          const registry = new URL(mirror).host
          const commands = images.map((image) => {
            const mirrored = `${registry}/${image.slice(image.indexOf('/') + 1)}`
            return `docker pull -q ${mirrored}\ndocker tag ${mirrored} ${image}\ndocker rmi ${mirrored}`
          })
          await settleAll(hosts.map(async (host) => host.script(commands.join('\n'))))
        },
        async runTool() {
          const before = await inspectContainers()
          await rke('up')
          expect(compareStates(before, await inspectContainers())).toEqual([])
        },
        inspectContainers,
        renewOwnCredentials: async () => undefined,
      }
    },
  }
  return contender
}

async function inspectAll(hosts: readonly Host[]): Promise<ReadonlyMap<string, HostState>> {
  return new Map(
    await settleAll(
      hosts.map(async (host) => {
        const { stdout } = await host.script(`docker inspect $(${containers})`)
        return [host.name, { 'docker inspect': listInspectedValues(stdout).join('\n') }] as const
      }),
    ),
  )
}

/** Reads the credentials of an etcd member. etcd of RKE1 has the CA of the cluster. */
async function readEtcdCredentials(host: Host) {
  const read = async (path: string): Promise<string> =>
    (await host.script(`cat /etc/kubernetes/ssl/${path}`)).stdout
  const member = `kube-etcd-${host.address.replaceAll('.', '-')}`
  return {
    ca: await read('kube-ca.pem'),
    certificate: await read(`${member}.pem`),
    key: await read(`${member}-key.pem`),
  }
}
