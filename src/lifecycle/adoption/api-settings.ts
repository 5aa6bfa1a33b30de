import { isIP } from 'node:net'
import { formatHostPort } from '../../kit/host-port.ts'
import { parseEndpointHost } from '../../spec/api.ts'
import { addressAt } from '../../spec/cidr.ts'
import { listInternalAddresses, nameHosts } from './host-settings.ts'
import { findArgs, readNetworks } from './network-settings.ts'
import { type AdoptionObservation, findComponent, listAdoptedControlPlanes } from './observation.ts'

/**
 * True for names that the certificates of hyperkube's API servers have anyway. Other addresses of a host are not
 * among them: one may be a virtual IP. A node name may be a full name, of which cluster.yml has only a part.
 */
function isStandardName(name: string, observation: AdoptionObservation): boolean {
  const { services } = readNetworks(observation)
  const names = nameHosts(observation)
  return (
    /^kubernetes(?:\.default.*)?$|^localhost$|^127\.0\.0\.1$|^::1$/.test(name) ||
    services.some((network) => name === addressAt(network, 1)) ||
    observation.hosts.some(
      (host, index) =>
        findComponent(host, 'kube-apiserver') !== undefined &&
        [names[index], host.address, ...listInternalAddresses(observation, host)].includes(name),
    )
  )
}

/**
 * Returns the endpoint of the API that certificates of hyperkube must name. It may be the full name of a control
 * plane. Undefined if there is none.
 */
function readEndpoint(observation: AdoptionObservation): string | undefined {
  const stated = observation.api?.kubeadm?.controlPlaneEndpoint ?? ''
  if (stated === '') return undefined
  // kubeadm accepts an endpoint without a port, also an IPv6 address.
  const hasPort = stated.includes(':') && isIP(stated) === 0
  const endpoint = hasPort ? stated : formatHostPort(stated, readApiPort(observation))
  return isStandardName(parseEndpointHost(endpoint), observation) ? undefined : endpoint
}

/**
 * Returns the endpoint of the API that belongs to no single control plane: a load balancer or a virtual IP.
 * Undefined if there is none.
 */
export function readSharedEndpoint(observation: AdoptionObservation): string | undefined {
  const endpoint = readEndpoint(observation)
  if (endpoint === undefined) return undefined
  const name = parseEndpointHost(endpoint)
  const isOfControlPlane = listAdoptedControlPlanes(observation).some(
    ({ nodeName, hostname }) => nodeName === name || hostname === name,
  )
  return isOfControlPlane ? undefined : endpoint
}

/** Returns the port of API servers. */
export function readApiPort(observation: AdoptionObservation): number {
  return Number(findArgs(observation, 'kube-apiserver')['secure-port'] ?? 6443)
}

/** Describes how the API is reached, and the further names in certificates of API servers. */
export function describeApi(observation: AdoptionObservation): object {
  const port = readApiPort(observation)
  const endpoint = readEndpoint(observation)
  const sans = listAdoptedControlPlanes(observation).flatMap(({ certificates }) =>
    certificates
      .filter(({ path }) => /\/(?:apiserver\.crt|kube-apiserver\.pem)$/.test(path))
      .flatMap(({ names }) => names),
  )
  const own = [...new Set(sans)].filter(
    (name) => !isStandardName(name, observation) && name !== parseEndpointHost(endpoint ?? ''),
  )
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(port === 6443 ? {} : { port }),
    ...(own.length === 0 ? {} : { sans: own }),
  }
}
