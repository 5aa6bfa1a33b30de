import { isIP } from 'node:net'
import { error, type SystemCheck, type SystemSubject, warning } from './check.ts'
import { ipv4Range, overlap } from './ipv4.ts'

/** Interfaces that are the cluster's own once it runs, and the host's way to itself. */
const ours = /^(lo|cni0|flannel.*|veth.*|nodelocaldns|kube-ipvs0|vEthernet \((flannel|cbr0).*)$/

/** Docker's bridges can be moved elsewhere, and only its own containers suffer. */
const docker = /^(docker0|br-[0-9a-f]{12})$/

/** Networks that the host is in, and that pods or services shall be in too: packets would go to the wrong one. */
export const hostNetworks: SystemCheck = (subject) => {
  const { networks, system } = subject
  return system.addresses
    .filter((one) => isIP(one.address) === 4 && !ours.test(one.interface))
    .flatMap((one) => {
      const range = ipv4Range(one.address, one.prefix)
      return networks
        .filter((network) => overlap(range, network.range))
        .filter(({ name }) => name === 'services' || !isPlugins(subject, one))
        .map(({ name, text }) => {
          const where = `${one.interface} with ${one.address}/${one.prefix}`
          const message = `${where} overlaps the network of ${name}, ${text}`
          const path = `spec.network.${name}`
          if (docker.test(one.interface)) {
            const hint = '"bip": "192.168.254.1/24" in /etc/docker/daemon.json'
            return warning(subject, 'HOST_NETWORK_OVERLAP', message, { hint, path })
          }
          const hint = `give ${path} a network that no host is in`
          return error(subject, 'HOST_NETWORK_OVERLAP', message, { hint, path })
        })
    })
}

/** A network plugin that is not ours has interfaces with addresses of pods, under names that only it knows. */
function isPlugins(
  { cluster, address, system }: SystemSubject,
  one: SystemSubject['system']['addresses'][number],
): boolean {
  if (cluster.spec.network.plugin !== 'none') return false
  return one.address !== address && one.interface !== system.defaultInterface
}
