import { parse, TomlError } from 'smol-toml'
import { z } from 'zod'

const tableSchema = z.record(z.string(), z.json())

/** Reads TOML as JSON values; dates become text. Returns undefined for text that is not TOML. */
export function readToml(text: string): z.infer<typeof tableSchema> | undefined {
  try {
    const document: unknown = JSON.parse(JSON.stringify(parse(text)))
    return tableSchema.parse(document)
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}
