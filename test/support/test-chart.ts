import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Version of the chart that `writeTestChart` writes. */
export const testChartVersion = '1.2.3'

/**
 * Files of a chart with a CRD, a custom resource, a Secret, a hook and a test. The values are `word` and
 * `database.password`.
 */
const files: Readonly<Record<string, string>> = {
  'Chart.yaml': `apiVersion: v2
name: shop
version: ${testChartVersion}
kubeVersion: ">=1.32.0-0"
`,
  'values.yaml': `word: default
random: false
database: { password: "" }
`,
  'crds/gadgets.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.shop.example }
spec:
  group: shop.example
  scope: Namespaced
  names: { kind: Gadget, plural: gadgets, singular: gadget }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`,
  'templates/gadget.yaml': `apiVersion: shop.example/v1
kind: Gadget
metadata: { name: {{ .Release.Name }} }
spec: { word: {{ .Values.word | quote }} }
`,
  'templates/settings.yaml': `apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}-settings }
data:
  word: {{ .Values.word | quote }}
  kubernetes: {{ .Capabilities.KubeVersion.Version | quote }}
{{- if .Values.random }}
  random: {{ randAlphaNum 12 | quote }}
{{- end }}
`,
  'templates/database.yaml': `apiVersion: v1
kind: Secret
metadata: { name: {{ .Release.Name }}-database }
data: { password: {{ required "database.password is needed" .Values.database.password | b64enc | quote }} }
`,
  'templates/migrate.yaml': `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: { helm.sh/hook: "pre-install,pre-upgrade" }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: a, image: a }] } } }
`,
  'templates/tests/connect.yaml': `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-connect
  annotations: { helm.sh/hook: test }
spec: { containers: [{ name: a, image: a }] }
`,
}

/** Writes the chart into a new directory. */
export async function writeTestChart(directory: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
}
