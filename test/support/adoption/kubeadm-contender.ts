import { formatImagePath } from '../../../lab/mirror/images.ts'
import { renderKubeconfig } from '../../../lab/cluster/configs.ts'
import { sendFiles } from '../../../lab/cluster/send-files.ts'
import { clusterNetwork } from '../../../lab/cluster/units.ts'
import { KubeApi } from '../../../lab/cluster/kube-api.ts'
import { settleAll } from '../../../src/kit/concurrency.ts'
import { pollUntil } from '../../../src/kit/poll.ts'
import { issueClientCertificate } from '../client-certificate.ts'
import { settingsStates } from '../host-states.ts'
import { createKubeadmCluster, type KubeadmCluster } from '../kubeadm-cluster.ts'
import { encryptionKey } from './encryption-key.ts'
import { type Contender, isApiReady, listControlPlanes, requireFirstHost } from './contender.ts'

const version = 'v1.36.4'

/** Programs of components with their arguments. Their start times differ after a return. */
const programs =
  "ps -eo args | grep -E '[k]ube-|[k]ubelet|[e]tcd |[c]ontainerd |[f]lanneld' | grep -v shim | sort"

export const kubeadmContender: Contender = {
  name: 'kubeadm',
  title: 'a kubeadm cluster',
  version,
  describe: (
    shape,
  ) => `kubeadm ${version}, ${shape} hosts of the lab, flannel and kube-router as services of the hosts, kube-proxy as a
DaemonSet, Secrets encrypted at rest.`,
  states: { ...settingsStates, 'programs of components': programs },
  // Files that programs rewrite, and the directory of CNI plugins, which has a file per pod.
  ignored:
    /\/etc\/(?:passwd|shadow|group|gshadow|subuid|subgid)-| \/etc\/\.pwd\.lock|\/etc\/\.updated| \/var\/lib\/cni\//,
  notCompared: `files that programs for users rewrite (such as /etc/passwd-), /run, /tmp, /var/log, and the data of etcd, kubelets, containerd, CNI
plugins and systemd`,
  movedScript:
    'systemctl is-active hyperkube-agent kubelet containerd; ls /etc/kubernetes/manifests 2>/dev/null || true',
  movedOutput: 'active\nactive\nactive\n',
  runtime: 'containerd',
  recreatesPods: false,
  enforcesPolicies: true,
  serviceAddress: (lastByte) => clusterNetwork.services.replace(/\d+\.\d+\/16$/, `88.${lastByte}`),
  // Nodes of kubeadm reach the API without a proxy.
  nodeProxies: [],
  async create({ name, shape, executable, ...options }) {
    const cluster = await createKubeadmCluster({ ...options, name, shape, version, executable })
    try {
      await encryptSecrets(cluster)
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
    const { access, hosts, mirror } = cluster
    return {
      ...cluster,
      contender: kubeadmContender,
      shape,
      credentials: access.api,
      etcdCredentials: access.etcd,
      adopt: async () => cluster.adopt(hosts, '--yes', '--no-lock'),
      async loadImages(images) {
        const commands = images.map(
          (image) => `curl -fsS ${mirror}/${formatImagePath(image)} -o /var/tmp/image.tar
ctr -n k8s.io images import --local /var/tmp/image.tar >/dev/null
rm /var/tmp/image.tar`,
        )
        await settleAll(hosts.map(async (host) => host.script(commands.join('\n'))))
      },
      runTool: undefined,
      inspectContainers: async () => new Map(),
      renewOwnCredentials: async () => renewNetworkCredentials(cluster),
    }
  },
}

const encryptionFile = 'etc/kubernetes/pki/encryption.conf'

/** Lets the API servers encrypt Secrets, one after the other. kubeadm has no option for this. */
async function encryptSecrets(cluster: KubeadmCluster): Promise<void> {
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [{ secretbox: { keys: [{ name: 'previous', secret: encryptionKey }] } }, { identity: {} }],
      },
    ],
  }
  const flag = `--encryption-provider-config=/${encryptionFile}`
  for (const host of listControlPlanes(cluster)) {
    await sendFiles(host, { [encryptionFile]: JSON.stringify(config) })
    // The kubelet reads every file in the directory of the manifests, so the new text is written elsewhere first.
    await host.script(`manifest=/etc/kubernetes/manifests/kube-apiserver.yaml
sed 's#^    - kube-apiserver$#&\\n    - ${flag}#' $manifest > /root/manifest.yaml
cp /root/manifest.yaml $manifest
rm /root/manifest.yaml`)
    const api = new KubeApi(`https://${host.address}:6443`, cluster.access.api)
    try {
      await pollUntil(
        `the API server of ${host.name} to encrypt`,
        async () => {
          const search = `pgrep -f -- '^kube-apiserver.*${flag}'`
          const { code } = await host.script(search, { allowFailure: true })
          return code === 0 && (await isApiReady(api))
        },
        { timeoutMs: 180_000, intervalMs: 500 },
      )
    } finally {
      api.close()
    }
  }
}

/** Gives flannel and kube-router of the lab certificates of the new CA. */
async function renewNetworkCredentials(cluster: KubeadmCluster): Promise<void> {
  const identity = await cluster.identity()
  const server = `https://${requireFirstHost(cluster).address}:6443`
  const files: [string, string][] = []
  for (const user of ['flannel', 'kube-router']) {
    const { ca, certificate, key } = await issueClientCertificate(identity, 'kubernetes', user, [])
    files.push([`etc/kubernetes/${user}.conf`, renderKubeconfig(server, ca, { certificate, key })])
  }
  await settleAll(
    cluster.hosts.map(async (host) => {
      await sendFiles(host, Object.fromEntries(files))
      await host.script('systemctl restart flanneld kube-router')
    }),
  )
}
