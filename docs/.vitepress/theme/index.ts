// The default theme without its font: text uses the fonts of the reader's system.
export { default } from 'vitepress/theme-without-fonts'
import './style.css'
