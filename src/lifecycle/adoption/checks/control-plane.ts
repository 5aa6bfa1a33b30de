import { toMinor } from '../../../catalog/version.ts'
import { apiserverProxyHealthPort, apiserverProxyPort } from '../../../plan/apiserver-proxy-config.ts'
import { oldestKubernetes } from '../../../spec/scalars.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { readApiPort, readSharedEndpoint } from '../api-settings.ts'
import { listWorkerVersions } from '../host-settings.ts'
import { findComponent, listAdoptedControlPlanes } from '../observation.ts'
import type { AdoptionCheck } from './check.ts'

export const checkApi: AdoptionCheck = ({ api, apiFailure = 'it does not respond' }) =>
  api === undefined
    ? [
        prevents(
          'ADOPT_API_NOT_READ',
          `the API could not be read: ${apiFailure}`,
          'repair the API first; on a control plane: crictl ps, or docker ps',
        ),
      ]
    : []

/** Finds versions that the catalog does not know. `minors` are those of the catalog. */
export function buildVersionCheck(minors: readonly string[]): AdoptionCheck {
  return (observation) => {
    const { api } = observation
    if (api === undefined) return []
    const versions = new Map([
      [api.version, 'the API server'],
      ...api.nodes.map(({ kubelet, name }) => [kubelet, `the kubelet of ${name}`] as const),
    ])
    const workers = listWorkerVersions(observation)
    const mixed =
      workers.length < 2
        ? []
        : [
            prevents(
              'ADOPT_VERSION',
              `workers have several versions of Kubernetes: ${workers.join(', ')}`,
              'finish their upgrade with the tool that manages the cluster',
            ),
          ]
    const unknown = [...versions].flatMap(([version, who]): AdoptionItem[] => {
      const minor = toMinor(version)
      if (minors.includes(minor)) return []
      const isOld = compareMinors(minor, oldestKubernetes) < 0
      const message = `${who} has Kubernetes ${version}; hyperkube knows ${minors.at(-1)} to ${minors[0]}`
      const next = isOld
        ? `upgrade the cluster with its own tool to ${minors.at(-1)} or later, one minor at a time`
        : 'use a newer release of hyperkube, or a newer catalog: hyperkube catalog list'
      return [prevents('ADOPT_VERSION', message, next)]
    })
    return [...unknown, ...mixed]
  }
}

function compareMinors(a: string, b: string): number {
  const [left = 0, right = 0] = [a, b].map((minor) => Number(minor.split('.')[1]))
  return left - right
}

/** Finds API servers at a port that the proxy of hyperkube needs on every host. */
export const checkApiPort: AdoptionCheck = (observation) => {
  const port = readApiPort(observation)
  if (port !== apiserverProxyPort && port !== apiserverProxyHealthPort) return []
  return [
    prevents(
      'ADOPT_API_PORT',
      `API servers listen on port ${port}, which the apiserver-proxy of hyperkube needs on every host`,
      'move API servers to another port first, such as 6443, and change the address in all kubeconfigs',
    ),
  ]
}

/** Names of static pods that serve an address of the API: a virtual IP or a load balancer. */
const endpointPod = /kube-vip|keepalived|haproxy|nginx|envoy/

/**
 * Finds static pods on control planes through which the API is reached. They end when the kubelet is replaced.
 * kube-proxy of kubeadm and the kubelets of hosts that have not moved use this address.
 */
export const checkEndpointPods: AdoptionCheck = (observation) => {
  const endpoint = readSharedEndpoint(observation)
  if (endpoint === undefined) return []
  return listAdoptedControlPlanes(observation).flatMap(({ otherStaticPods, address }) =>
    otherStaticPods
      .filter((name) => endpointPod.test(name))
      .map((name) =>
        prevents(
          'ADOPT_ENDPOINT_POD',
          `the static pod ${name} would end, and kube-proxy may reach the API through it, at ${endpoint}`,
          'run it as a service of the host or as a DaemonSet first, or use a load balancer, so that the address stays',
          address,
        ),
      ),
  )
}

/** Components whose cloud provider counts. */
const cloudComponents = ['kube-apiserver', 'kube-controller-manager', 'kubelet']

export const checkCloudProvider: AdoptionCheck = ({ hosts, api }) => {
  const providers = hosts.flatMap((host) => [
    ...cloudComponents.map((name) => findComponent(host, name)?.args['cloud-provider']),
    host.kubelet.args['cloud-provider'],
  ])
  const names = [...new Set(providers)].filter((name) => name !== undefined && name !== '' && name !== 'none')
  const ids = (api?.nodes ?? []).filter(({ providerId }) => providerId !== '').map(({ name }) => name)
  if (names.length === 0 && ids.length === 0) return []
  const message =
    names.length > 0
      ? `the cluster has the cloud provider ${names.join(', ')}`
      : `nodes have ids of a cloud provider: ${ids.slice(0, 3).join(', ')}`
  return [
    prevents(
      'ADOPT_CLOUD_PROVIDER',
      `${message}; adoption with a cloud provider is not supported`,
      'create a new cluster with spec.cloudProvider: external, and move workloads there',
    ),
  ]
}

/** Finds nodes that do not work. An adoption must start from a healthy cluster. */
export const checkNodesReady: AdoptionCheck = ({ api }) =>
  (api?.nodes ?? [])
    .filter(({ ready, os }) => !ready && os !== 'windows')
    .map(({ name }) =>
      prevents(
        'ADOPT_NODE_NOT_READY',
        `the node ${name} is not Ready`,
        `find the cause: kubectl describe node ${name}`,
      ),
    )

/** Finds API servers whose tokens cannot be kept. */
export const checkServiceAccounts: AdoptionCheck = (observation) => {
  const servers = listAdoptedControlPlanes(observation).flatMap((host) => {
    const server = findComponent(host, 'kube-apiserver')
    return server === undefined ? [] : [{ host, args: server.args }]
  })
  const issuers = new Set(servers.map(({ args }) => args['service-account-issuer'] ?? ''))
  const keyFiles = servers.find(
    ({ host, args }) =>
      (args['service-account-key-file'] ?? '').includes(',') || (host.serviceAccountKeys ?? 0) > 1,
  )
  const next = 'wait until no token of the previous key or issuer is in use, then remove it from the flags'
  return [
    ...(issuers.size > 1 || [...issuers].some((issuer) => issuer.includes(','))
      ? [prevents('ADOPT_SERVICE_ACCOUNTS', 'API servers have several service account issuers', next)]
      : []),
    ...(keyFiles === undefined
      ? []
      : [
          prevents(
            'ADOPT_SERVICE_ACCOUNTS',
            'the API server trusts several service account keys, and only the signing key can be kept',
            next,
            keyFiles.host.address,
          ),
        ]),
  ]
}

/**
 * Finds API servers whose authorization hyperkube cannot continue: it always uses RBAC. Without RBAC, RKE1 creates no
 * roles for the pods of the network and of addons, so these would lose all access.
 */
export const checkAuthorization: AdoptionCheck = (observation) =>
  listAdoptedControlPlanes(observation).flatMap((host) => {
    const args = findComponent(host, 'kube-apiserver')?.args ?? {}
    const isFile = 'authorization-config' in args
    const modes = (args['authorization-mode'] ?? 'AlwaysAllow').split(',')
    if (!isFile && modes.includes('RBAC') && !modes.includes('AlwaysAllow')) return []
    const found = isFile ? 'is configured by a file' : `has the mode ${modes.join(', ')}`
    return [
      prevents(
        'ADOPT_AUTHORIZATION',
        `authorization of the API server ${found}, and hyperkube always uses Node and RBAC`,
        'enable RBAC with the tool that manages the cluster first, and give all clients their roles',
        host.address,
      ),
    ]
  })

/** Providers whose keys are in the configuration file itself. */
const keptProviders = new Set(['aescbc', 'aesgcm', 'secretbox', 'identity'])

export const checkEncryption: AdoptionCheck = ({ hosts }) =>
  hosts.flatMap(({ address, encryption = [] }) => {
    const others = new Set(
      encryption.flatMap(({ providers }) => providers).filter((name) => !keptProviders.has(name)),
    )
    if (others.size === 0) return []
    return [
      prevents(
        'ADOPT_ENCRYPTION',
        `data in etcd is encrypted by ${[...others].join(', ')}, which hyperkube cannot keep`,
        'encrypt with secretbox or aescbc instead, and rewrite all Secrets: kubectl get secrets -A -o json | kubectl replace -f -',
        address,
      ),
    ]
  })
