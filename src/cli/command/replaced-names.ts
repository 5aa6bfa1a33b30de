/** Command names of other tools and of the old hyperkube image, with what to use instead. */
const replacements: Readonly<Record<string, string>> = {
  apply: 'use: hyperkube up; for manifests: hyperkube kubectl apply',
  create: 'use: hyperkube init, then hyperkube up',
  delete: 'use: hyperkube reset; for one node: hyperkube node remove NAME',
  destroy: 'use: hyperkube reset',
  install: 'use: hyperkube init, then hyperkube up',
  join: 'use: hyperkube node add NAME --address ADDRESS',
  kubelet: describeComponent('kubelet'),
  'kube-apiserver': describeComponent('kube-apiserver'),
  apiserver: describeComponent('kube-apiserver'),
  'kube-controller-manager': describeComponent('kube-controller-manager'),
  'kube-scheduler': describeComponent('kube-scheduler'),
  scheduler: describeComponent('kube-scheduler'),
  'kube-proxy': describeComponent('kube-proxy'),
  'cloud-controller-manager': 'run the controller manager of your cloud provider as an addon',
  kubeadm: 'use: hyperkube init, then hyperkube up',
}

/**
 * Returns the hint for the name of a Kubernetes component. The old hyperkube image contained these
 * components; this program only installs them on hosts.
 */
function describeComponent(component: string): string {
  return `this program does not contain ${component}; hyperkube up installs it on hosts, hyperkube logs ${component} shows its log`
}

/** Returns what to use instead of a command name of another tool; undefined for all other names. */
export function findReplacement(name: string): string | undefined {
  return Object.hasOwn(replacements, name) ? replacements[name] : undefined
}
