// Command judge says what kubectl reads: its decoder of streams, behind which stand sigs.k8s.io/yaml and go.yaml.in/yaml/v2.
//
//	cd crates/syntax/src/yaml/lenient/testdata/judge && go run . ../kubectl.jsonl
//
// A line of the file is an object: `yaml` is a text, `reads` the documents that kubectl takes from it, `refuses` its error.
// The command keeps the texts and writes the rest anew.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

type verdict struct {
	YAML    string            `json:"yaml"`
	Reads   []json.RawMessage `json:"reads"`
	Refuses string            `json:"refuses,omitempty"`
}

func (v *verdict) judge() {
	v.Reads, v.Refuses = []json.RawMessage{}, ""
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(v.YAML)), 4096)
	for {
		document := runtime.RawExtension{}
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			v.Refuses = err.Error()
			return
		}
		if raw := bytes.TrimSpace(document.Raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
			v.Reads = append(v.Reads, raw)
		}
	}
}

func main() {
	log.SetFlags(0)
	path := os.Args[1]
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	var judged bytes.Buffer
	encoder := json.NewEncoder(&judged)
	encoder.SetEscapeHTML(false)
	lines := json.NewDecoder(file)
	for {
		var line verdict
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		line.judge()
		if err := encoder.Encode(line); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(path, judged.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
