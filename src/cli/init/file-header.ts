/** Header of a new cluster.yml, for readers who do not know hyperkube. */
const header = `# A Kubernetes cluster, as hyperkube builds and keeps it. Commit this file.
# hyperkube validate      says what is wrong with it, and where
# hyperkube schema --help says how an editor learns to complete it
# Every setting: docs/reference/cluster.md in the sources of hyperkube
`

export function addFileHeader(yaml: string): string {
  return `${header}${yaml}`
}
