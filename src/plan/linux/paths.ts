import { type CredentialFiles, buildKubeconfig } from '../../pki/kubeconfig.ts'
import type { PlannedFile } from '../../contract/component-plan.ts'
import { planTextFile } from '../files.ts'
import type { PlanContext } from '../context.ts'

/**
 * Root directories on a Linux host. Below them each component has its own directory, which users of other
 * components cannot read.
 */
export const configRoot = '/etc/hyperkube'
export const stateRoot = '/var/lib/hyperkube'
export const logRoot = '/var/log/hyperkube'
export const containerdSocket = '/run/containerd/containerd.sock'
export const linuxCniDirectory = '/etc/cni/net.d'
export const flannelSubnetFile = '/run/flannel/subnet.env'

/**
 * Program path through a link to the current version. A new version therefore changes no unit and restarts no
 * component.
 */
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
 * the kubeconfig.
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
