import { stringify } from 'yaml'
import { selectParts } from '../../lab/components/parts.ts'

/** Address of the API on every node, also before anything serves Services. */
const localApi = { host: '127.0.0.1', port: '6444' }
const podNetwork = '10.244.0.0/16'
export const kubeFlannel = 'kube-flannel'

const kubeFlannelConfig = 'kube-flannel-cfg'

/**
 * Writes the CNI configuration for the subnet that flanneld got. Upstream's manifest copies a program for
 * this, the flannel CNI plugin, which the lab cannot build.
 */
const cniScript = `until [ -s /run/flannel/subnet.env ]; do sleep 1; done
. /run/flannel/subnet.env
cat > /etc/cni/net.d/10-flannel.conflist <<END
{
  "cniVersion": "1.0.0",
  "name": "cbr0",
  "plugins": [
    {
      "type": "bridge", "bridge": "cni0", "isDefaultGateway": true, "hairpinMode": true, "mtu": $FLANNEL_MTU,
      "ipam": { "type": "host-local", "ranges": [[{ "subnet": "\${FLANNEL_SUBNET%.*}.0/24" }]] }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
END
trap exit TERM
while :; do sleep 1; done
`

const networkConfig = { Network: podNetwork, EnableNFTables: true, Backend: { Type: 'vxlan' } }

/**
 * Builds the manifest of flannel as a DaemonSet, in the shape of upstream's kube-flannel.yml. With an empty
 * configuration flanneld exits when it starts.
 */
export function renderFlannelManifest(config: object = networkConfig): string {
  const [flannel] = selectParts(['flannel'])
  const metadata = { name: 'flannel', namespace: kubeFlannel }
  return renderObjects([
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: kubeFlannel, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'flannel' },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
        { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      ],
    },
    buildBinding('flannel', metadata),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: kubeFlannelConfig, namespace: kubeFlannel },
      data: {
        'net-conf.json': JSON.stringify(config),
        'write-cni.sh': cniScript,
      },
    },
    buildDaemonSet({ name: 'kube-flannel-ds', namespace: kubeFlannel }, 'flannel', {
      containers: [
        {
          name: 'kube-flannel',
          image: `ghcr.io/flannel-io/flannel:${flannel?.version}`,
          args: ['--ip-masq', '--kube-subnet-mgr'],
          env: [
            fieldVariable('POD_NAME', 'metadata.name'),
            fieldVariable('POD_NAMESPACE', 'metadata.namespace'),
            { name: 'KUBERNETES_SERVICE_HOST', value: localApi.host },
            { name: 'KUBERNETES_SERVICE_PORT', value: localApi.port },
          ],
          securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
          volumeMounts: [mount('run', '/run/flannel'), mount('config', '/etc/kube-flannel')],
        },
        {
          name: 'install-cni',
          image: 'docker.io/library/busybox:1.37.0',
          command: ['sh', '/etc/kube-flannel/write-cni.sh'],
          volumeMounts: [
            mount('run', '/run/flannel'),
            mount('config', '/etc/kube-flannel'),
            mount('cni', '/etc/cni/net.d'),
          ],
        },
      ],
      volumes: [
        { name: 'run', hostPath: { path: '/run/flannel', type: 'DirectoryOrCreate' } },
        { name: 'cni', hostPath: { path: '/etc/cni/net.d' } },
        { name: 'config', configMap: { name: kubeFlannelConfig } },
      ],
    }),
  ])
}

/** Builds the manifest of kube-proxy as a DaemonSet, as kubeadm installs it. */
export function renderKubeProxyManifest(kubernetes: string): string {
  const metadata = { name: 'kube-proxy', namespace: 'kube-system' }
  const directory = '/var/lib/kube-proxy'
  const account = '/var/run/secrets/kubernetes.io/serviceaccount'
  return renderObjects([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    buildBinding('system:node-proxier', metadata, 'own-network:kube-proxy'),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: {
        'config.conf': stringify({
          apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
          kind: 'KubeProxyConfiguration',
          mode: 'nftables',
          clusterCIDR: podNetwork,
          clientConnection: { kubeconfig: `${directory}/kubeconfig.conf` },
          // The kernel of the lab has one connection table for all hosts, whose size hosts cannot change.
          conntrack: { maxPerCore: 0, min: 0 },
        }),
        'kubeconfig.conf': stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [
            {
              name: 'default',
              cluster: {
                'certificate-authority': `${account}/ca.crt`,
                server: `https://${localApi.host}:${localApi.port}`,
              },
            },
          ],
          contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
          'current-context': 'default',
          users: [{ name: 'default', user: { tokenFile: `${account}/token` } }],
        }),
      },
    },
    buildDaemonSet(metadata, 'kube-proxy', {
      containers: [
        {
          name: 'kube-proxy',
          image: `registry.k8s.io/kube-proxy:${kubernetes}`,
          command: [
            '/usr/local/bin/kube-proxy',
            `--config=${directory}/config.conf`,
            '--hostname-override=$(NODE_NAME)',
          ],
          env: [fieldVariable('NODE_NAME', 'spec.nodeName')],
          securityContext: { privileged: true },
          volumeMounts: [mount('config', directory)],
        },
      ],
      volumes: [{ name: 'config', configMap: { name: 'kube-proxy' } }],
    }),
  ])
}

interface ObjectName {
  readonly name: string
  readonly namespace: string
}

/** Builds a DaemonSet in the host network that also runs on nodes that are not ready. */
function buildDaemonSet(metadata: ObjectName, serviceAccountName: string, pod: object): object {
  const labels = { app: metadata.name }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...metadata, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          priorityClassName: 'system-node-critical',
          serviceAccountName,
          terminationGracePeriodSeconds: 5,
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [{ operator: 'Exists' }],
          ...pod,
        },
      },
    },
  }
}

function buildBinding(role: string, { name, namespace }: ObjectName, binding = name): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: binding },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  }
}

function fieldVariable(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { fieldPath } } }
}

function mount(name: string, mountPath: string): object {
  return { name, mountPath }
}

function renderObjects(objects: readonly object[]): string {
  return objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n')
}
