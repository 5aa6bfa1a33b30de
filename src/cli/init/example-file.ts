import { stringify } from 'yaml'
import { addFileHeader } from './file-header.ts'

/**
 * Renders a cluster.yml for a cluster on the operator's own machine, so that init needs no further settings.
 * Common settings follow as YAML comments.
 */
export function renderExampleFile(name: string, kubernetes: string): string {
  return addFileHeader(`apiVersion: hyperkube.dev/v1
kind: Cluster
metadata:
  name: ${stringify(name, { blockQuote: false }).trimEnd()}
spec:
  kubernetes: ${kubernetes}
  hosts:
    # This machine, without ssh. A local host must be the only host of its cluster.
    - name: cp1
      address: localhost
      local: true
      roles: [control-plane, worker]
    # To use hosts over ssh instead, replace the host above:
    # - name: cp1
    #   address: 192.168.1.11
    #   roles: [control-plane]
    #   ssh: { user: root }
    # - name: w1
    #   address: 192.168.1.21
    #   roles: [worker]
    #   ssh: { user: root }

  # Defaults of common settings. To change a setting, remove its #.
  # network:
  #   plugin: flannel           # none: you install another CNI plugin
  #   pods: 10.244.0.0/16       # must not overlap with other networks of the hosts
  #   services: 10.96.0.0/16
  # api:
  #   port: 6443
  #   sans: []                  # more DNS names and IP addresses in the API server certificates
  # security:
  #   profile: default          # or: cis
  # artifacts: upstream         # or: { mirror: https://... }
  # rollout:
  #   maxUnavailable: 10%       # workers that may be unavailable at the same time
`)
}
