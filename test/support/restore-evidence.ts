import type { RestoreFigures } from './restore-suite.ts'

/** Renders the results for docs/evidence. */
export function formatRestoreEvidence(
  { keys, verified, restored, etcdutl, revisions }: RestoreFigures,
  shape: string,
  kubernetes: string,
): string {
  const seconds = (value: number): string => `${value.toFixed(1)} s`
  return `# A cluster comes back from a snapshot

Written by \`npm run e2e:full\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${kubernetes}, ${shape} hosts of the lab, ${keys.toLocaleString('en')} keys beside
those of Kubernetes. All members of etcd were stopped and their data was deleted; then \`hyperkube etcd snapshot restore\`.
Every key was there again, every pod was the same one with the same containers, and what was written after the snapshot was
gone.

| | |
|---|---|
| the snapshot tried in an etcd of its own | ${seconds(verified)} |
| \`restore\`, from the command to pods and services proven on every node | ${seconds(restored)} |
| \`etcdutl snapshot restore\` alone, one member, from a file that is there | ${seconds(etcdutl)} |
| revision before | ${revisions.before} |
| revision after | ${revisions.after} |
`
}
