// breaks: main

package main

import _ "contextinfinity/backend/store"
