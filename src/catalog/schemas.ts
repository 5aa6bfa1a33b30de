import { z } from 'zod'
import { parseImage } from '../contract/image-reference.ts'

export const versionSchema = z.string().regex(/^\d+\.\d+\.\d+$/, 'must be a full version such as 1.37.1')

export const imageReferenceSchema = z
  .string()
  .refine((text) => parseImage(text) !== undefined, 'must be a full image name')
