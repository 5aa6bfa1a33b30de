import { type CredentialFiles, buildKubeconfig } from '../../pki/kubeconfig.ts'
import type { PlannedFile } from '../../contract/component-plan.ts'
import { planTextFile } from '../files.ts'
import type { PlanContext } from '../context.ts'

/**
 * Paths on a Linux host. Each component has its own directory with all it reads, hidden from the users of
 * other components. Programs are in directories by version, so that two versions can coexist.
 */
export const configRoot = '/etc/hyperkube'
export const stateRoot = '/var/lib/hyperkube'
export const logRoot = '/var/log/hyperkube'
export const containerdSocket = '/run/containerd/containerd.sock'
export const linuxCniDirectory = '/etc/cni/net.d'
export const flannelSubnetFile = '/run/flannel/subnet.env'

/** Link to the current hyperkube. A new version changes no unit and restarts no component. */
export const hyperkubeProgram = '/opt/hyperkube/current/hyperkube'

export function linuxProgramDirectory(name: string, version: string): string {
  return `/opt/hyperkube/${name}-${version}`
}

/** Path of the kubeconfig with which a component connects to the API. */
export function linuxKubeconfigPath(component: string): string {
  return `${configRoot}/${component}/kubeconfig`
}

/**
 * Plans the kubeconfig of a component. It refers to certificate files by path, so a renewal does not change
 * it.
 */
export function planLinuxKubeconfig(
  { cluster, yaml }: PlanContext,
  component: string,
  server: string,
  owner: string,
): PlannedFile {
  const directory = `${configRoot}/${component}`
  const access = { cluster: cluster.metadata.name, server, user: component }
  const files: CredentialFiles = {
    ca: `${directory}/ca.crt`,
    certificate: `${directory}/client.crt`,
    privateKey: `${directory}/client.key`,
  }
  return planTextFile(linuxKubeconfigPath(component), yaml(buildKubeconfig(access, files)), { owner })
}
