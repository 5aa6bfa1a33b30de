/** Header of a new cluster.yml, for readers who do not know hyperkube. */
const header = `# A Kubernetes cluster that hyperkube manages. Commit this file.
# Check this file:       hyperkube validate
# Set up your editor:    hyperkube schema --help
# List of all settings:  docs/reference/cluster.md in the hyperkube repository
`

export function addFileHeader(yaml: string): string {
  return `${header}${yaml}`
}
