import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import type { AdoptedNode, ApiObservation, KubeadmConfiguration, AdoptedWorkload } from './observation.ts'
import { parseYaml } from './read-components.ts'

/** Client that only reads. */
export type ApiReader = Pick<KubeClient, 'request'>

/** Reads what an adoption must know from the API. All requests are GET. */
export async function readAdoptedApi(client: ApiReader, signal: AbortSignal): Promise<ApiObservation> {
  const get = async (path: string): Promise<unknown> => client.request({ method: 'GET', path, signal })
  const find = async (path: string): Promise<unknown> =>
    get(path).catch((error: unknown) => {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined
      throw error
    })
  const [version, nodes, daemonSets, ...deployments] = await Promise.all([
    get('/version'),
    get('/api/v1/nodes'),
    get('/apis/apps/v1/daemonsets'),
    ...addonNamespaces.map(async (namespace) => get(`/apis/apps/v1/namespaces/${namespace}/deployments`)),
  ])
  const [kubeadm, kubeProxy, policies, definitions] = await Promise.all([
    find('/api/v1/namespaces/kube-system/configmaps/kubeadm-config'),
    find('/api/v1/namespaces/kube-system/configmaps/kube-proxy'),
    get('/apis/networking.k8s.io/v1/networkpolicies'),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions'),
  ])
  const foreign = list(definition, definitions).filter(
    ({ spec }) => /\.projectcalico\.org$|^cilium\.io$/.test(spec.group) && /polic/.test(spec.names.plural),
  )
  return {
    version: stripVersion(gitVersion.parse(version).gitVersion),
    nodes: list(node, nodes).map(toNode),
    kubeadm: readKubeadm(kubeadm),
    kubeProxyMode: readProxyMode(kubeProxy),
    daemonSets: list(workload, daemonSets).map(toWorkload),
    deployments: deployments.flatMap((response) => list(workload, response).map(toWorkload)),
    networkPolicies: list(named, policies).length,
    foreignPolicies: await Promise.all(
      foreign.map(async ({ metadata, spec }) => {
        const objects = await get(`/apis/${spec.group}/${spec.versions[0]?.name}/${spec.names.plural}`)
        return { resource: metadata.name, count: list(named, objects).length }
      }),
    ),
  }
}

/** Namespaces in which kubeadm and RKE1 install addons. */
export const addonNamespaces = ['kube-system', 'ingress-nginx'] as const

/** Removes the prefix v, and suffixes such as -rancher1. */
function stripVersion(version: string): string {
  return /^v?(\d+\.\d+\.\d+)/.exec(version)?.[1] ?? version
}

const gitVersion = z.looseObject({ gitVersion: z.string() })
const named = z.looseObject({ metadata: z.looseObject({ name: z.string() }) })
const texts = z.record(z.string(), z.string()).default({})

const definition = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ plural: z.string() }),
    versions: z.array(z.looseObject({ name: z.string() })),
  }),
})

const node = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: texts, annotations: texts }),
  spec: z
    .looseObject({
      podCIDR: z.string().optional(),
      podCIDRs: z.array(z.string()).optional(),
      providerID: z.string().default(''),
      taints: z
        .array(z.looseObject({ key: z.string(), value: z.string().default(''), effect: z.string() }))
        .default([]),
    })
    .prefault({}),
  status: z.looseObject({
    addresses: z.array(z.looseObject({ type: z.string(), address: z.string() })).default([]),
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).default([]),
    nodeInfo: z.looseObject({
      machineID: z.string().default(''),
      kubeletVersion: z.string(),
      operatingSystem: z.string(),
      containerRuntimeVersion: z.string().default(''),
    }),
  }),
})

const workload = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().default('') }),
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string().default('') })) }),
    }),
  }),
})

function list<T>(schema: z.ZodType<T>, response: unknown): readonly T[] {
  return z.looseObject({ items: z.array(schema) }).parse(response).items
}

function toNode({ metadata, spec, status }: z.infer<typeof node>): AdoptedNode {
  const backend = metadata.annotations['flannel.alpha.coreos.com/backend-type']
  const { nodeInfo } = status
  return {
    name: metadata.name,
    os: nodeInfo.operatingSystem,
    kubelet: stripVersion(nodeInfo.kubeletVersion),
    runtime: nodeInfo.containerRuntimeVersion,
    machineId: nodeInfo.machineID,
    addresses: status.addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
    podCidrs: spec.podCIDRs ?? (spec.podCIDR === undefined ? [] : [spec.podCIDR]),
    ready: status.conditions.some(({ type, status: state }) => type === 'Ready' && state === 'True'),
    labels: metadata.labels,
    taints: spec.taints.map(({ key, value, effect }) => ({ key, value, effect })),
    providerId: spec.providerID,
    ...(backend === undefined ? {} : { flannelBackend: backend }),
  }
}

function toWorkload({ metadata, spec }: z.infer<typeof workload>): AdoptedWorkload {
  const images = spec.template.spec.containers.map(({ image }) => image)
  return { namespace: metadata.namespace, name: metadata.name, images }
}

const configMap = z.looseObject({ data: texts })

const kubeadmDocument = z.looseObject({
  clusterName: z.string().default('kubernetes'),
  certificatesDir: z.string().default('/etc/kubernetes/pki'),
  controlPlaneEndpoint: z.string().default(''),
  etcd: z
    .looseObject({
      external: z.looseObject({}).optional(),
      local: z.looseObject({ dataDir: z.string().default('/var/lib/etcd') }).prefault({}),
    })
    .prefault({}),
})

function readKubeadm(response: unknown): KubeadmConfiguration | undefined {
  const text = configMap.safeParse(response).data?.data['ClusterConfiguration']
  if (text === undefined) return undefined
  const { clusterName, certificatesDir, controlPlaneEndpoint, etcd } = kubeadmDocument.parse(
    parseYaml(text) ?? {},
  )
  return {
    clusterName,
    certificatesDir,
    controlPlaneEndpoint,
    etcd: { external: etcd.external !== undefined, dataDir: etcd.local.dataDir },
  }
}

const proxyDocument = z.looseObject({ mode: z.string().default('') })

function readProxyMode(response: unknown): string | undefined {
  const text = configMap.safeParse(response).data?.data['config.conf']
  if (text === undefined) return undefined
  const mode = proxyDocument.safeParse(parseYaml(text)).data?.mode ?? ''
  return mode === '' ? 'iptables' : mode
}
