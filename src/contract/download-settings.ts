import { z } from 'zod'
import type { Format } from './versioned.ts'

const downloadUrl = z.url({ protocol: /^https?$/ })

const downloadSettings = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('DownloadSettings'),
  proxy: z
    .strictObject({
      http: downloadUrl.optional(),
      https: downloadUrl.optional(),
      /** Targets that are reached without the proxy, in the format of NO_PROXY. */
      no: z.array(z.string()),
      /** True if the proxy demands the login of the file `proxyLoginFile`. */
      login: z.boolean(),
    })
    .optional(),
  /** CA certificates as PEM that are trusted for every server. */
  ca: z.string().optional(),
  /** CA certificates as PEM that are trusted for one server. `host` includes the port. */
  servers: z.array(z.strictObject({ host: z.string(), ca: z.string() })),
})

/** How the agent downloads files. The document contains no secrets. */
export type DownloadSettings = z.infer<typeof downloadSettings>

export const downloadSettingsFormat: Format<DownloadSettings> = {
  kind: 'DownloadSettings',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: downloadSettings },
  older: [],
}

/** Name of the file with the download settings, in the directory of the agent. */
export const downloadSettingsFile = 'downloads.json'

/** Name of the file with the login of the proxy, and of the secret that it contains. */
export const proxyLoginFile = 'proxy-login'

/** Content of the file `proxyLoginFile`. */
export const proxyLogin = z.strictObject({ username: z.string(), password: z.string() })
export type ProxyLogin = z.infer<typeof proxyLogin>
