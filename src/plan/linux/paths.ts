import { kubeconfig } from '../../pki/kubeconfig.ts'
import type { PlannedFile } from '../../contract/component-plan.ts'
import { textFile } from '../files.ts'
import type { Scene } from '../context.ts'

/**
 * Where things are on a Linux host. Each component has a directory of its own with all that it reads, so that its user
 * sees nothing of the others; programs are in a directory of their version, so that two can be there at once.
 */
export const etc = '/etc/hyperkube'
export const state = '/var/lib/hyperkube'
export const logs = '/var/log/hyperkube'
export const containerdSocket = '/run/containerd/containerd.sock'
export const cniConfiguration = '/etc/cni/net.d'
export const flannelSubnet = '/run/flannel/subnet.env'

/** Whichever hyperkube a host runs now: a link, so that a new one changes no unit and restarts no component. */
export const ownProgram = '/opt/hyperkube/current/hyperkube'

export function programDirectory(name: string, version: string): string {
  return `/opt/hyperkube/${name}-${version}`
}

/** By which a component speaks to the API. */
export function kubeconfigPath(component: string): string {
  return `${etc}/${component}/kubeconfig`
}

/** How a component that runs here becomes known to the API. Its files are named, so a renewal changes no byte of it. */
export function kubeconfigFile(
  { cluster, yaml }: Scene,
  component: string,
  server: string,
  owner: string,
): PlannedFile {
  const directory = `${etc}/${component}`
  const access = { cluster: cluster.metadata.name, server, user: component }
  const files = {
    authority: `${directory}/ca.crt`,
    certificate: `${directory}/client.crt`,
    privateKey: `${directory}/client.key`,
  }
  return textFile(kubeconfigPath(component), yaml(kubeconfig(access, files)), { owner })
}
