/** Builds the text of a cluster.yml with these hosts, for tests. */
export function buildClusterFile(...hosts: readonly string[]): string {
  return `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
${hosts.map((host) => `    - ${host}\n`).join('')}`
}
